"""The file of channels: who outside is told of assignments, read as strictly as rules; it holds no secret itself."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from lead_router.errors import Misconfigured
from lead_router.ports.notices import Channel, NewNotice, NoticeKind
from lead_router.rulefiles import strict
from lead_router.rulefiles.opened import legible
from lead_router.salesforce.notifications import PACE_S
from lead_router.settings import PREFIX, readable_by_others, secret_text

SETTING: Final = f"{PREFIX}NOTICE_FILE"
SALESFORCE: Final = "salesforce"
"""The name of the channel that is Salesforce's own notification."""

CHANNELS_MAX: Final = 16
DEADLINE_MAX_S: Final = 15.0
"""A router that is told to end waits for the call under way, and 20 s for all its loops."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")
_WHOM = ("groups", "outcomes")
_HOW = {"every_s": "pace_s", "deadline_s": "deadline_s", "tries": "tries", "give_up_s": "give_up_s"}
_MOST = {"every_s": 3_600.0, "deadline_s": DEADLINE_MAX_S, "give_up_s": 604_800.0, "tries": 100.0}
_CHANNEL = ("name", "url_env", "url_file", "for", "fields", *_HOW)


@dataclass(frozen=True, slots=True)
class NoticePlan:
    """The channels, and the addresses of those that apprise serves, which are secrets.

    `exposed` tells of files with addresses that others may read, as settings do of theirs.
    """

    channels: tuple[Channel, ...]
    addresses: Mapping[str, str] = field(repr=False)
    exposed: tuple[str, ...] = ()

    def channels_of(self, notice: NewNotice) -> Sequence[str]:
        """Where a notice goes."""
        return [channel.name for channel in self.channels if channel.hears(notice)]


def notice_plan(path: Path, environment: Mapping[str, str] | None = None) -> NoticePlan:
    """What the file says, with the addresses read from where it names them; raises Misconfigured naming its line."""
    environment = os.environ if environment is None else environment
    with legible(path):
        text = path.read_text(encoding="utf-8-sig")
    part = strict.read(text, path.name)
    if part is None:
        raise Misconfigured(f"{SETTING}: {path.name} is empty: name channels in it, or leave the setting out")
    whole = strict.entries(part, ("channels", SALESFORCE, "fields"), "the file")
    shown = _fields(whole)
    channels: dict[str, Channel] = {}
    addresses: dict[str, str] = {}
    files: dict[str, Path] = {}
    listed = whole.entries.get("channels")
    for one in strict.items(listed, "channels") if listed is not None else ():
        row = strict.entries(one, _CHANNEL, "a channel")
        channel = _channel(row, _name(row), shown)
        if channel.name in channels:
            raise Misconfigured(f"{one.at}: a channel '{channel.name}' is there already")
        channels[channel.name] = channel
        addresses[channel.name] = _address(row, channel.name, path.parent, environment)
        if "url_file" in row.entries:
            files[f"channel {channel.name}"] = path.parent / strict.text(row.entries["url_file"], "url_file")
    bell = _bell(whole, shown)
    found = (*channels.values(), *((bell,) if bell is not None else ()))
    if not found:
        raise Misconfigured(f"{SETTING}: {path.name} names no channel: leave the setting out, or name one")
    if len(found) > CHANNELS_MAX:
        raise Misconfigured(f"{SETTING}: {path.name} names {len(found)} channels, {CHANNELS_MAX} are possible")
    return NoticePlan(found, addresses, tuple(readable_by_others(files)))


def _name(row: strict.Row) -> str:
    if "name" not in row.entries:
        raise Misconfigured(f"{row.at}: a channel has a name")
    name = strict.text(row.entries["name"], "a channel's name")
    if not _NAME.fullmatch(name) or name == SALESFORCE:
        told = "small letters, digits, - and _, and not 'salesforce', which is a key of its own"
        raise Misconfigured(f"{row.entries['name'].at}: a channel's name is of {told}")
    return name


def _address(row: strict.Row, name: str, folder: Path, environment: Mapping[str, str]) -> str:
    given = [key for key in ("url_env", "url_file") if key in row.entries]
    if len(given) != 1:
        raise Misconfigured(f"{row.at}: channel '{name}' has its address in url_file or in url_env, one of them")
    told = strict.text(row.entries[given[0]], given[0])
    at = row.entries[given[0]].at
    if "://" in told:
        raise Misconfigured(f"{at}: {given[0]} names where the address is, as that is a secret, and not itself")
    if given[0] == "url_file":
        return secret_text(folder / told, f"{at}: url_file")
    address = environment.get(told, "").strip()
    if not address:
        raise Misconfigured(f"{at}: url_env: there is no variable of that name, or it is empty")
    return address


def _bell(whole: strict.Row, shown: tuple[str, ...]) -> Channel | None:
    part = whole.entries.get(SALESFORCE)
    if part is None:
        return None
    if isinstance(part, strict.Row):
        row = strict.entries(part, ("for", "fields", *_HOW), SALESFORCE)
        found = _channel(row, SALESFORCE, shown)
        return found if "every_s" in row.entries else replace(found, pace_s=PACE_S)
    return Channel(SALESFORCE, pace_s=PACE_S, fields=shown) if strict.flag(part, SALESFORCE) else None


def _channel(row: strict.Row, name: str, shown: tuple[str, ...]) -> Channel:
    groups, kinds = _whom(row)
    how: dict[str, Any] = {ours: _number(row.entries[key], key) for key, ours in _HOW.items() if key in row.entries}
    return Channel(name, groups, kinds, fields=_fields(row) if "fields" in row.entries else shown, **how)


def _whom(row: strict.Row) -> tuple[frozenset[str], frozenset[NoticeKind]]:
    if "for" not in row.entries:
        return frozenset(), frozenset()
    whom = strict.entries(row.entries["for"], _WHOM, "for")
    kinds: set[NoticeKind] = set()
    for one in _texts(whom, "outcomes"):
        if one not in set(NoticeKind):
            known = ", ".join(NoticeKind)
            raise Misconfigured(f"{whom.entries['outcomes'].at}: '{one}' is no outcome: {known}")
        kinds.add(NoticeKind(one))
    return frozenset(_texts(whom, "groups")), frozenset(kinds)


def _fields(row: strict.Row) -> tuple[str, ...]:
    found = _texts(row, "fields")
    for one in found:
        if not _FIELD.fullmatch(one):
            raise Misconfigured(f"{row.entries['fields'].at}: '{one}' is no API name of a field of Lead")
    return found


def _texts(row: strict.Row, key: str) -> tuple[str, ...]:
    part = row.entries.get(key)
    return () if part is None else tuple(strict.text(one, f"one of {key}") for one in strict.items(part, key))


def _number(part: strict.Part, key: str) -> float | int:
    value = part.value if isinstance(part, strict.Leaf) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Misconfigured(f"{part.at}: {key} is a number")
    least = 0.0 if key == "every_s" else 1.0
    if not least <= value <= _MOST[key]:
        raise Misconfigured(f"{part.at}: {key} is from {least:g} to {_MOST[key]:g}")
    return strict.whole(part, key) if key == "tries" else float(value)
