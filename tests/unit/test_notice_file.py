"""The file of channels: read strictly, each fault by its line, and no address told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lead_router.app.noticefile import notice_plan
from lead_router.errors import Misconfigured
from lead_router.ports.notices import Channel, NewNotice, NoticeKind
from lead_router.salesforce.notifications import PACE_S

SECRET = "slack://T0KEN-canary-4711/b/c"
NOTICE = NewNotice("key", NoticeKind.ASSIGNED, "00Q1", "0051", 1, "Rule 'All'.", "Ann", "emea")


def plan(tmp_path, text, **environment):
    path = tmp_path / "notices.yaml"
    path.write_text(text, encoding="utf-8")
    return notice_plan(path, {"TEAM_URL": SECRET, **environment})


def test_a_whole_file_is_read(tmp_path):
    """Channels with whom and how, the address from a variable or from a file beside it, and Salesforce's own."""
    (tmp_path / "mail").write_text("mailto://mail-secret\n", encoding="utf-8")
    found = plan(
        tmp_path,
        """
channels:
  - name: team
    url_env: TEAM_URL
    for: {groups: [emea, us], outcomes: [assigned, reminder]}
    every_s: 2
    deadline_s: 5.5
    tries: 3
    give_up_s: 600
  - name: mail
    url_file: mail
    fields: []
salesforce: true
fields: [Company]
""",
    )
    kinds = frozenset({NoticeKind.ASSIGNED, NoticeKind.REMINDER})
    assert found.channels == (
        Channel("team", frozenset({"emea", "us"}), kinds, 2.0, 5.5, 3, 600.0, ("Company",)),
        Channel("mail"),
        Channel("salesforce", pace_s=PACE_S, fields=("Company",)),
    )
    assert dict(found.addresses) == {"team": SECRET, "mail": "mailto://mail-secret"}
    assert "canary" not in repr(found)


def test_salesforce_alone_will_do(tmp_path):
    """Reps are told where they work, and nothing else is set up."""
    found = plan(tmp_path, "salesforce:\n  for: {outcomes: [assigned]}\n  every_s: 1\n")
    assert found.channels == (Channel("salesforce", kinds=frozenset({NoticeKind.ASSIGNED}), pace_s=1.0),)


@pytest.mark.parametrize(
    ("whom", "hears"),
    [
        ("{}", (True, True, True)),
        ("{groups: [emea]}", (True, False, False)),
        ("{outcomes: [reminder]}", (False, False, False)),
        ("{groups: [us], outcomes: [assigned]}", (False, True, False)),
    ],
)
def test_a_channel_hears_what_it_is_for(tmp_path, whom, hears):
    """By group and by outcome; what is of no group goes to those that hear all groups."""
    found = plan(tmp_path, f"channels: [{{name: team, url_env: TEAM_URL, for: {whom}}}]")
    notices = (NOTICE, replace(NOTICE, group="us"), replace(NOTICE, group=""))
    assert tuple(bool(found.channels_of(one)) for one in notices) == hears


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("salesforce: false", "names no channel"),
        ("chanels: []", "notices.yaml:1: the file has no key 'chanels'; did you mean 'channels'?"),
        ("channels: [{url_env: TEAM_URL}]", "a channel has a name"),
        ("channels: [{name: Team One, url_env: TEAM_URL}]", "small letters"),
        ("channels: [{name: salesforce, url_env: TEAM_URL}]", "a key of its own"),
        ("channels: [{name: team}]", "url_file or in url_env"),
        ("channels: [{name: team, url_env: TEAM_URL, url_file: x}]", "one of them"),
        (f"channels: [{{name: team, url_env: '{SECRET}'}}]", "names where the address is"),
        (f"channels: [{{name: team, url: '{SECRET}'}}]", "no key 'url'"),
        ("channels: [{name: team, url_env: NOWHERE}]", "no variable of that name"),
        ("channels: [{name: team, url_file: nowhere}]", "cannot read"),
        (
            "channels:\n  - {name: team, url_env: TEAM_URL}\n  - {name: team, url_env: TEAM_URL}",
            "yaml:3: a channel 'team'",
        ),
        ("channels: [{name: team, url_env: TEAM_URL, tries: 0}]", "tries is from 1 to 100"),
        ("channels: [{name: team, url_env: TEAM_URL, tries: 1.5}]", "whole number"),
        ("channels: [{name: team, url_env: TEAM_URL, deadline_s: 60}]", "deadline_s is from 1 to 15"),
        ("channels: [{name: team, url_env: TEAM_URL, every_s: soon}]", "every_s is a number"),
        ("channels: [{name: team, url_env: TEAM_URL, for: {outcomes: [won]}}]", "'won' is no outcome"),
        ("channels: [{name: team, url_env: TEAM_URL, fields: ['Company, Email']}]", "no API name"),
        ("salesforce: yes", "salesforce is true or false"),
    ],
)
def test_a_fault_is_told_by_its_line(tmp_path, text, told):
    """F1: in words that name the remedy, and never an address."""
    with pytest.raises(Misconfigured) as refused:
        plan(tmp_path, text)
    assert told in str(refused.value)
    assert "canary" not in str(refused.value)


def test_too_many_channels_are_refused(tmp_path):
    """Each has a thread of its own."""
    many = "\n".join(f"  - {{name: c{number}, url_env: TEAM_URL}}" for number in range(17))
    with pytest.raises(Misconfigured, match="16 are possible"):
        plan(tmp_path, f"channels:\n{many}\n")
