"""The demo's story is settled by its seed before anything starts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from lead_router.demo.story import BURST, tell


def test_the_same_seed_tells_the_same_story():
    """Posts, their times and the crash are equal for equal seeds, and other seeds tell other stories."""
    assert tell(7, 300) == tell(7, 300)
    assert tell(7, 300) != tell(8, 300)


@pytest.mark.parametrize("leads", [1, 2, 3, 5, 20, 1_000])
def test_a_story_has_as_many_leads_as_asked_for(leads):
    """However short the story: all leads come, in order of time."""
    posts = tell(3, leads).posts

    assert len(posts) == leads
    assert all(before.at_s <= after.at_s for before, after in pairwise(posts))


def test_the_crash_falls_into_the_burst():
    """Fifty leads come in one instant, and the router is killed right behind it."""
    story = tell(1, 1_000)
    instant, together = Counter(post.at_s for post in story.posts).most_common(1)[0]

    assert together == BURST
    assert 0 < story.crash_at_s - instant < 1


def test_a_retried_webhook_sends_the_same_buyer_again():
    """Each retry comes after the post that it repeats, word for word, and buyers differ otherwise."""
    posts = tell(1, 1_000).posts
    firsts = {post.fields["Email"]: post for post in posts if not post.retry}
    retries = [post for post in posts if post.retry]

    assert len(firsts) + len(retries) == len(posts)
    assert len(retries) == 60
    assert all(
        post.fields == firsts[post.fields["Email"]].fields and post.at_s > firsts[post.fields["Email"]].at_s
        for post in retries
    )
