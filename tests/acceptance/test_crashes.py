"""Routers as processes: side by side, killed in mid-work, on both databases; judged by what the org holds."""

from __future__ import annotations

import random
import time

import pytest

from support import company
from support.databases import Database
from support.router import routers, until
from support.simulator import simulator
from support.third_program import Form, meanwhile
from support.verdict import all_owned, promises_kept

LEADS = 2_000
KILLS = 5
TOGETHER = 20
SPAN = LEADS * 9 // 10 // KILLS
SETTLE_S = 60.0


def test_two_processes_and_a_third_program(router_at):
    """500 leads that a third program creates in 5 threads: each has one owner, one stamp, one ledger row.

    D1, P25: the turns of each group are 1..n, and every rep is within one lead of the fair share.
    """
    with simulator(scenario=company.scenario()) as org, routers(router_at(org)) as (router,):
        form = Form(org)
        form.post_all([company.lead(number) for number in range(500)], threads=5)
        until(lambda: all_owned(org, 500), SETTLE_S, "500 leads with an owner")
        promises_kept(org, form.created)
        assert router.stop() == 0


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_killed_routers_lose_and_repeat_nothing(router_at, request, tmp_path, kind):
    """`kill -9` five times while 2,000 leads arrive: no lead lost, none twice, no turn lost or given twice.

    C8, C11, C22, C23, A28: on SQLite the one router there is; on PostgreSQL one of three, chosen at random.
    """
    dice = random.Random(2_000)
    several = 1 if kind == "sqlite" else 3
    database = f"sqlite:///{tmp_path}/jobs.db" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    with simulator(scenario=company.scenario()) as org:
        jobs = Database(database)
        made = [router_at(org, name=f"router{number}", database=database) for number in range(several)]
        leads = [company.lead(number) for number in range(LEADS)]
        moments = [part * SPAN + dice.randrange(SPAN) for part in range(KILLS)]  # one in each part of the way
        with routers(*made):
            form = Form(org)
            stranded = 0
            with meanwhile(form, leads, together=TOGETHER):
                for moment in moments:
                    until(lambda moment=moment: all_owned(org, moment), SETTLE_S, f"{moment} owners")
                    time.sleep(dice.uniform(0, 0.3))  # anywhere within a claim
                    victim = dice.choice(made)
                    victim.kill()
                    ((held,),) = jobs.execute("SELECT count(*) FROM routing_job WHERE status = 'working'")
                    stranded += held
                    victim.start()
            until(lambda: all_owned(org, LEADS), SETTLE_S, f"{LEADS} leads with an owner")
            promises_kept(org, form.created)
            assert stranded > 0  # else nobody was hit at work
            assert [router.started().stop() for router in made] == [0] * several
