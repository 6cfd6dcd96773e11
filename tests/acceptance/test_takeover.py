"""Two router processes on one PostgreSQL database: one listens, and the other goes on when it is killed."""

from __future__ import annotations

import pytest

from support import company
from support.router import routers, until
from support.simulator import simulator
from support.standby import listening, taken_over_s
from support.third_program import Form, meanwhile
from support.verdict import all_owned, promises_kept

LEADS = 150
WITHIN_S = 10.0
SETTLE_S = 60.0


@pytest.mark.postgres
def test_a_standby_takes_the_subscription_over(router_at, postgres_url):
    """C11, C22, A28: the listener is killed while leads arrive; within 10 s the other one hears, by the stream alone.

    No lead is lost or given twice, though no sweep helps; `status` names who listens; SIGTERM frees it at once.
    """
    with simulator(scenario=company.scenario()) as org:
        options = {"database": postgres_url, "sweep_every_s": "86400"}
        made = [router_at(org, name=name, **options) for name in ("one", "two")]
        with routers(*made):
            form = Form(org)
            with meanwhile(form, [company.lead(number) for number in range(LEADS)], threads=1):
                until(lambda: all_owned(org, 20), SETTLE_S, "the first leads with an owner")
                former = listening(made)
                took_s = taken_over_s(made)
                former.start()  # it gives back what it had claimed, and waits
            until(lambda: all_owned(org, LEADS), SETTLE_S, f"{LEADS} leads with an owner")
            promises_kept(org, form.created)
            later = listening(made)
            (seen,) = later.run("status", "--json").json()["queue"]["listeners"]
            former.await_event("listener_waits")
            assert later.stop() == 0
            former.await_event("listener_taken", count=2, within_s=WITHIN_S / 2)

    assert took_s < WITHIN_S
    assert (seen["listens"], seen["generation"], former is later) == (True, 2, False)
