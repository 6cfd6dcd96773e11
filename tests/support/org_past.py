"""Half a year of an org's past by seed: a rotation that keeps its turns, people who take leads, and what is planted.

Clean, it has arrivals by day and some by night that wait for the morning, a rep on holiday, one who joins and one who
leaves, takes, hand-overs, a manager who moves leads, conversions, and two groups under one writer. Planted, also:
doubles by a second automation, a poller in one source, one reset of the rotation, leads left with a rep who is gone,
and buyers with two records.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from lead_router.core.roster import Hours
from lead_router.ports.history import Extent, LeadSeen, OwnerRow, Person
from org_simulator.ids import make_id

ZONE = "Europe/Berlin"
FIRST_DAY = datetime(2026, 6, 1, tzinfo=ZoneInfo(ZONE))
DAYS = 182
OPEN_H, CLOSE_H = 9, 17
POLL_S = 300.0
DESK = ("Ana", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus")
EVENTS = ("Hana", "Ivo", "Jo", "Kai", "Lea")
OTHERS = ("Router API", "Web Integration", "Event Poller", "Marketing Sync", "Mia Manager")
SOURCES = ("Web", "Web", "Web", "Partner", "Phone", "Event")
QUEUE = make_id("00G", 1)


@dataclass(frozen=True)
class Plant:
    """What is planted, and how many."""

    doubles: int = 0
    poller: bool = False
    reset: bool = False
    inactive: bool = False
    twins: int = 0


CLEAN = Plant()
FULL = Plant(doubles=40, poller=True, reset=True, inactive=True, twins=6)


@dataclass
class Lead:
    """A lead on its way through the org."""

    id: str
    created: datetime
    source: str
    email: str
    phone: str
    owner: str = QUEUE
    converted: bool = False
    steps: list[tuple[datetime, str, str, str]] = field(default_factory=list)
    """When, by whom, from whom, to whom."""

    def give(self, at: datetime, by: str, to: str) -> None:
        self.steps.append((at.replace(microsecond=0), by, self.owner, to))
        self.owner = to


@dataclass
class Turns:
    """A group's members, one after the other."""

    members: list[str]
    next: int = 0

    def take(self) -> str:
        self.next %= len(self.members)
        self.next += 1
        return self.members[self.next - 1]


@dataclass
class OrgPast:
    """The past, as `ports.history.History` tells it, and what was planted: ids of leads, and the place of the reset."""

    seed: int
    leads_wanted: int = 5_000
    plant: Plant = CLEAN

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.ids = {name: make_id("005", place) for place, name in enumerate((*DESK, *EVENTS, *OTHERS, "Nia"), 1)}
        self.desk = Turns([self.ids[name] for name in DESK])
        self.events = Turns([self.ids[name] for name in EVENTS])
        self.doubled: set[str] = set()
        self.polled: set[str] = set()
        self.twinned: set[tuple[str, str]] = set()
        self.left: set[str] = set()
        self.reset_at: str | None = None
        self.end = FIRST_DAY + timedelta(days=DAYS)
        self._reset_day = FIRST_DAY + timedelta(days=self.dice.randrange(60, 120))
        self._reset_left = self.plant.reset
        self._last_given = FIRST_DAY
        self.all = self._arrivals()
        for lead in self.all:
            self._route(lead)
        self._by_hand()
        self._planted_doubles()
        self._planted_twins()
        self._leaver()
        self._poll_order()

    # ---- how it came about --------------------------------------------------------------------------------------

    def _arrivals(self) -> list[Lead]:
        times = sorted(self._moment() for _ in range(self.leads_wanted))
        return [
            Lead(
                make_id("00Q", number),
                at,
                self.dice.choice(SOURCES),
                f"buyer{number}@shop{self.seed}.example",
                f"+49 30 {10_000_000 + number}",
            )
            for number, at in enumerate(times, 1)
        ]

    def _moment(self) -> datetime:
        while True:
            day = FIRST_DAY + timedelta(days=self.dice.randrange(DAYS))
            if day.weekday() >= 5 and self.dice.random() > 0.15:
                continue
            night = self.dice.random() < 0.12
            hour = self.dice.uniform(0, 24) if night else self.dice.triangular(OPEN_H + 0.2, CLOSE_H - 0.2)
            at = (day + timedelta(hours=hour)).replace(microsecond=0)
            if at < self.end - timedelta(days=1):
                return at

    def _opening(self, at: datetime) -> datetime:
        """The instant, or the morning when the office opens next."""
        while at.weekday() >= 5 or not OPEN_H <= at.hour < CLOSE_H:
            day = at if at.hour < OPEN_H else at + timedelta(days=1)
            at = day.replace(hour=OPEN_H, minute=0, second=self.dice.randrange(2, 50))
        return at

    def _members(self, lead: Lead) -> None:
        """Who is there: Finn has a week off, Gus joins after two months, Nia leaves three weeks before the end."""
        days = (lead.created - FIRST_DAY).days
        there = [
            name for name in DESK if not (name == "Finn" and 80 <= days < 88) and not (name == "Gus" and days < 60)
        ]
        there += ["Nia"] if days < DAYS - 21 else []
        now = [self.ids[name] for name in there]
        if now != self.desk.members:
            had = self.desk.members
            due = next(one for ahead in range(len(had)) if (one := had[(self.desk.next + ahead) % len(had)]) in now)
            self.desk = Turns(now, now.index(due))

    def _route(self, lead: Lead) -> None:
        at = self._opening(lead.created)
        if lead.source == "Event" and self.plant.poller:
            self.polled.add(lead.id)
            return
        router = self.ids["Router API"]
        given = self._last_given = max(self._last_given, at + timedelta(seconds=self.dice.randrange(1, 8)))
        if lead.source == "Event":
            lead.give(given, router, self.events.take())
            return
        self._members(lead)
        if self._reset_left and lead.created >= self._reset_day and 3 <= self.desk.next <= len(self.desk.members) - 2:
            self._reset_left = False
            self.desk.next = 0
            self.reset_at = lead.id
        lead.give(given, router, self.desk.take())

    def _poll_order(self) -> None:
        """The poller wakes every five minutes and a bit, and gives away what it finds."""
        waiting = [lead for lead in self.all if lead.id in self.polled]
        at = FIRST_DAY + timedelta(hours=9, minutes=1.7)
        for lead in waiting:
            ready = self._opening(lead.created)
            behind = (ready - at).total_seconds()
            if behind > 3600:  # it slept the same rounds, only nobody came
                rounds = int(behind // (POLL_S + 0.5)) - 2
                at += timedelta(seconds=rounds * (POLL_S + 0.5) + self.dice.gauss(0, 1))
            while at < ready:
                at += timedelta(seconds=POLL_S + self.dice.uniform(0.2, 0.8))
            lead.steps.insert(0, (at.replace(microsecond=0), self.ids["Event Poller"], QUEUE, to := self.events.take()))
            lead.owner = to if len(lead.steps) == 1 else lead.owner

    def _by_hand(self) -> None:
        manager = self.ids["Mia Manager"]
        reps = [self.ids[name] for name in DESK]
        for lead in self.all:
            lead.converted = self.dice.random() < 0.2 and lead.created < self.end - timedelta(days=9)
            if lead.id in self.polled or self.dice.random() > 0.08:
                continue
            after = timedelta(minutes=self.dice.choice((2, 4, 9, 60, 600, 3000)), seconds=self.dice.randrange(60))
            other = self.dice.choice([rep for rep in reps if rep != lead.owner])
            by = self.dice.choice((other, other, lead.owner, manager))
            if by == manager:
                after += timedelta(hours=20)
            lead.give(lead.steps[-1][0] + after, by, other)

    def _planted_doubles(self) -> None:
        quiet = [lead for lead in self.all if len(lead.steps) == 1 and lead.source == "Web"]
        reps = [self.ids[name] for name in DESK[:5]]
        for lead in self.dice.sample(quiet, self.plant.doubles):
            other = self.dice.choice([rep for rep in reps if rep != lead.owner])
            after = timedelta(seconds=self.dice.randrange(20, 240))
            lead.give(lead.steps[-1][0] + after, self.ids["Marketing Sync"], other)
            self.doubled.add(lead.id)

    def _planted_twins(self) -> None:
        places = [place for place, lead in enumerate(self.all[:-100]) if lead.source == "Web"]
        for place in self.dice.sample(places[:: len(places) // 40], self.plant.twins):
            one = self.all[place]
            later = (two for two in self.all[place + 1 :] if two.source != "Event")
            two = next(two for two in later if two.steps[0][3] != one.steps[0][3])
            two.email = one.email.upper()
            self.twinned.add((one.id, two.id))

    def _leaver(self) -> None:
        nia, manager = self.ids["Nia"], self.ids["Mia Manager"]
        if self.plant.inactive:
            self.left = {lead.id for lead in self.all if lead.owner == nia and not lead.converted}
            return
        at = self.end - timedelta(days=20)
        for lead in self.all:
            if lead.owner == nia and not lead.converted:
                lead.give(at, manager, self.dice.choice([self.ids[name] for name in DESK]))

    # ---- as it is told ------------------------------------------------------------------------------------------

    def extent(self, _since: datetime) -> Extent:
        return Extent(len(self.all), sum(len(lead.steps) for lead in self.all) * 2, 0)

    def people(self) -> Iterator[Person]:
        for name, user_id in self.ids.items():
            yield Person(user_id, name, active=name != "Nia", seen_at=self.end.timestamp())
        yield Person(QUEUE, "Lead Queue", queue=True)

    def leads(self, since: datetime) -> Iterator[LeadSeen]:
        for lead in self.all:
            if lead.created >= since:
                buyer = (digest(lead.email.lower()), digest(lead.phone))
                creator = self.ids["Web Integration"]
                yield LeadSeen(
                    lead.id, lead.created.timestamp(), lead.owner, creator, lead.source, buyer, lead.converted
                )

    def owner_rows(self, since: datetime) -> Iterator[OwnerRow]:
        named = {user_id: name for name, user_id in self.ids.items()} | {QUEUE: "Lead Queue"}
        steps = sorted((step, lead.id) for lead in self.all for step in lead.steps)
        for number, ((at, by, old, new), lead_id) in enumerate(steps):
            if at >= since:
                when = at.timestamp()
                yield OwnerRow(make_id("017", 2 * number + 1), lead_id, when, by, named[old], named[new])
                yield OwnerRow(make_id("017", 2 * number + 2), lead_id, when, by, old, new)

    def hours(self) -> Hours | None:
        return None

    def zone(self) -> str:
        return ZONE

    def lacking(self) -> Sequence[str]:
        return ()


FILES = {
    "loader": {
        "lead": ("Id", "CREATEDDATE", "OwnerId", "CreatedById", "LeadSource", "Email", "Phone", "IsConverted"),
        "history": ("Id", "LeadId", "CreatedById", "CreatedDate", "Field", "OldValue", "NewValue"),
        "user": ("Id", "Name", "IsActive", "LastLoginDate"),
        "group": ("Id", "Name", "Type"),
    },
    "report": {
        "lead": ("Lead ID", "Create Date", "Lead Owner", "Created By", "Lead Source", "Email", "Phone", "Converted"),
        "history": ("History ID", "Lead ID", "Edited By", "Edit Date", "Field / Event", "Old Value", "New Value"),
        "user": ("User ID", "Full Name", "Active", "Last Login"),
        "group": ("Queue ID", "Queue Name", "Type"),
    },
}
"""The heads of exported files: Data Loader's, which has ids, and those of reports, which have names."""


def write_files(
    past: OrgPast, folder: Path, *, style: str = "loader", delimiter: str = ",", encoding: str = "utf-8"
) -> None:
    """The past as files of an export."""
    heads = FILES[style]
    report = style == "report"
    named = {user_id: name for name, user_id in past.ids.items()} | {QUEUE: "Lead Queue"}

    def shown(owner: str) -> str:
        return named[owner] if report else owner

    def when(at: datetime) -> str:
        text = f"{at.month}/{at.day}/{at.year}, {at:%I:%M:%S %p}"
        return text if report else at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    leads = [
        (
            lead.id[:15] if report else lead.id,
            when(lead.created),
            shown(lead.owner),
            shown(past.ids["Web Integration"]),
            lead.source,
            lead.email,
            lead.phone,
            str(lead.converted).upper() if report else str(lead.converted).lower(),
        )
        for lead in past.all
    ]
    history = [
        (
            row.id,
            row.lead,
            shown(row.by),
            when(datetime.fromtimestamp(row.at, FIRST_DAY.tzinfo)),
            field_name,
            row.old,
            row.new,
        )
        for row in past.owner_rows(FIRST_DAY)
        for field_name in (("Lead Owner",) if report else ("Owner",))
        if not (report and row.new in named)
    ]
    people = [(one.id, one.name, str(one.active).lower(), when(past.end)) for one in past.people() if not one.queue]
    tables: dict[str, Sequence[Sequence[Any]]] = {
        "lead": leads,
        "history": history,
        "user": people,
        "group": [(QUEUE, "Lead Queue", "Queue")],
    }
    files = {"lead": "Lead.csv", "history": "LeadHistory.csv", "user": "User.csv", "group": "Group.csv"}
    for name, rows in tables.items():
        with (folder / files[name]).open("w", encoding=encoding, newline="") as file:
            writer = csv.writer(file, delimiter=delimiter, lineterminator="\r\n")
            writer.writerow(heads[name])
            writer.writerows(rows)


def digest(text: str) -> int:
    """A stand-in for an address, as readers make it."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
