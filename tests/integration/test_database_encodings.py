"""What an org calls its rules and people is stored whole, or the database is refused at the start."""

from __future__ import annotations

import pytest

from lead_router.errors import Misconfigured
from lead_router.jobs import open_store
from lead_router.ports import Position, Release, Unreadable
from support.databases import CHANNEL, ORG, Database, new_job

pytestmark = pytest.mark.postgres
TOLD = "held: nobody of 'Zürich \N{CHECK MARK} 太郎' is on duty \N{GRINNING FACE}"


@pytest.fixture
def made(postgres_server):
    """A database of an encoding."""
    urls = []

    def of(encoding):
        urls.append(postgres_server.new_database(encoding))
        return Database(urls[-1])

    yield of
    for url in urls:
        postgres_server.drop_database(url)


@pytest.mark.parametrize(("encoding", "asked"), [("SQL_ASCII", None), ("SQL_ASCII", "LATIN1"), ("UTF8", "LATIN1")])
def test_every_letter_is_kept_whatever_the_server_and_its_client_were_set_up_for(made, monkeypatch, encoding, asked):
    """A server made under the locale C has no encoding; one held lead's reason must not hold up all the others."""
    database = made(encoding)
    if asked:
        monkeypatch.setenv("PGCLIENTENCODING", asked)
    store = database.open()
    quarantined = [Unreadable(CHANNEL, b"\x00\xff", TOLD)]
    store.record([new_job(1, rule=TOLD), new_job(2)], position=Position(CHANNEL, b"\x00\xff"), unreadable=quarantined)
    one, two = store.claim("w", limit=2, lease_s=60)
    kept = store.end([(one, Release(60, TOLD)), (two, Release(60, TOLD))])

    assert (one.payload, kept) == ({"rule": TOLD}, {one.id, two.id})
    assert [job.last_error for job in store.jobs()] == [TOLD, TOLD]
    assert store.position(CHANNEL) == Position(CHANNEL, b"\x00\xff")
    store.close()


def test_a_database_whose_encoding_lacks_letters_is_refused_with_the_remedy(made):
    """At the start, before it meets the first such letter in the middle of the work."""
    with pytest.raises(Misconfigured, match=r"LEAD_ROUTER_DATABASE.*LATIN1.*createdb --encoding=UTF8"):
        open_store(made("LATIN1").url, org_id=ORG)
