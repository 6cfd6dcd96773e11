"""Looks: a question that hangs holds up its own page for a while, and nothing else."""

from __future__ import annotations

import asyncio
import threading

import pytest

from lead_router.console import looks
from lead_router.console.looks import ORG_THREADS, Looks
from lead_router.errors import StoreUnavailable


@pytest.fixture
def hanging():
    """A question that is answered when the test ends."""
    ended = threading.Event()
    yield lambda: ended.wait(60)
    ended.set()


def test_a_question_that_hangs_keeps_nobody_from_ending(hanging):
    """SIGTERM ends the console within its seconds, whether Salesforce answers or not."""
    before = {one.ident for one in threading.enumerate()}

    async def ask():
        seen = Looks(page_s=0.01)
        sight = await seen.org("recent", hanging, fresh_s=1)
        seen.close()
        return sight

    sight = asyncio.run(ask())
    left = [one for one in threading.enumerate() if one.ident not in before]

    assert (sight.value, sight.away) == (None, True)
    assert [one.daemon for one in left] == [True] * len(left)


def test_the_org_s_silence_holds_up_no_look_at_the_queue(hanging):
    """They have threads of their own, and the deadline of a page frees the page."""

    async def ask():
        seen = Looks(page_s=0.01)
        for name in range(ORG_THREADS + 1):
            await seen.org(str(name), hanging, fresh_s=1)
        answer = await seen.store(lambda: "queue")
        seen.close()
        return answer

    assert asyncio.run(ask()) == "queue"


def test_what_waits_for_a_thread_until_its_deadline_is_never_asked(monkeypatch):
    """A job that a person gave up on is not retried minutes later."""
    monkeypatch.setattr(looks, "STORE_S", 0.05)
    monkeypatch.setattr(looks, "STORE_THREADS", 1)
    done, free = [], threading.Event()

    async def ask():
        seen = Looks()
        first = asyncio.create_task(seen.store(lambda: free.wait(60)))
        await asyncio.sleep(0)
        with pytest.raises(StoreUnavailable):
            await seen.store(lambda: done.append("late"))
        with pytest.raises(StoreUnavailable):
            await first
        monkeypatch.setattr(looks, "STORE_S", 60)
        free.set()
        await seen.store(lambda: done.append("next"))
        seen.close()

    asyncio.run(ask())
    assert done == ["next"]
