"""What must be true at every instant of the play, reckoned from the company's plain values and not by the core."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from benchmarks.year_world import ACCEPTS, DAY_MIN, Arrival, Kind, Shift, World
from lead_router.core.model import Assign, Batch, Decision, Group, Hold, Member, Outcome, Turn

STRIDE = 1_000_000_000
ROUNDING = 1e-5  # strides are whole numbers: a few billionths of a lead per turn
OWED_TURNS = 2
SHOWN_MAX = 5
_DAY = timedelta(days=1)


@dataclass(slots=True)
class Line:
    """One group's members that are on duty together, in leads per weight.

    `place` is where each stood when coming on duty, as DESIGN section 5 has it, and a lead's worth more for each lead
    since; `got` is without any start, and `met` what two had apart when they came together. In `cut` are those who,
    since they came, were owed more than two turns against the mean, which the rotation cuts to two.
    """

    place: dict[str, float] = field(default_factory=dict)
    got: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    met: dict[tuple[str, str], float] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)

    def come_and_go(self, level: Collection[str], starts: Mapping[str, float]) -> None:
        """From now on these are on duty together."""
        for name in self.place.keys() - set(level):
            del self.place[name]
            self.cut.discard(name)
        self.cut |= {name for name, place in self.place.items() if abs(starts[name] - place) > ROUNDING}
        for name in set(level) - self.place.keys():
            self.place[name] = starts[name]
            for other in level:
                self.met[name, other] = self.got[name] - self.got[other]
                self.met[other, name] = -self.met[name, other]


@dataclass(slots=True)
class Checks:
    """Counts and broken promises; `broken` has one sentence per break, by promise."""

    world: World
    counts: Counter[str] = field(default_factory=Counter)
    broken: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    closest: float = 0.0  # how near to the fairness bound any two came: 1 is the bound
    furthest: float = 0.0  # the same, counted past a cut
    apart: float = 0.0  # the most leads per weight that one got more than another while together
    waited: timedelta = timedelta()
    lines: defaultdict[str, Line] = field(default_factory=lambda: defaultdict(Line))
    per_day: Counter[tuple[str, date]] = field(default_factory=Counter)
    turns: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)
    next_turns: dict[str, int | None] = field(default_factory=dict)
    open_leads: Counter[str] = field(default_factory=Counter)
    came_as: dict[int, Arrival] = field(default_factory=dict)
    waiting: defaultdict[Kind, dict[int, None]] = field(default_factory=lambda: defaultdict(dict))
    held: set[int] = field(default_factory=set)

    def came(self, one: Arrival) -> None:
        """A lead is there; until it is given out it waits."""
        self.came_as[one.number] = one
        self.waiting[one.kind][one.number] = None
        self.counts["leads"] += 1

    def closed(self, owner: str) -> None:
        """An owner has one open lead less."""
        self.open_leads[owner] -= 1

    def decided(self, at: datetime, groups: Mapping[str, Group], made: Iterable[Decision]) -> None:
        """One round of decisions, made of these groups; the oldest lead's is judged first."""
        round_ = _Round(self, at, groups)
        for decision in sorted(made, key=lambda one: one.ask.job_id):
            match decision:
                case Assign():
                    round_.assigned(decision)
                case Hold():
                    round_.held(decision)
                case _:
                    self.fail("every lead is given or held", at, f"{decision}")

    def wrote(self, group: Group, batch: Batch) -> None:
        """A batch goes on from the group as it is, turn by turn."""
        numbers = [one.turn.number for one in batch.writes if isinstance(one, Assign) and one.turn]
        after = batch.after.turn if batch.after else 0
        if batch.before != group or numbers != list(range(group.turn + 1, after + 1)):
            self.fail("turns go on without a hole", None, f"{group.key}: {numbers} after {group.turn}")

    def ended(self, groups: Mapping[str, Group], waiting: set[int]) -> None:
        """What the rotation has counted is what was seen, and whoever was not given out still waits."""
        for group in groups.values():
            if group.turn != self.turns[group.key]:
                self.fail("turns go on without a hole", None, f"{group.key}: {group.turn}")
            for one in group.members:
                if one.leads_received != self.received[one.id]:
                    self.fail("turns go on without a hole", None, f"{one.id}: {one.leads_received}")
        left = {number for kind in self.waiting.values() for number in kind}
        if left != waiting:
            self.fail("every lead is given once", None, f"{sorted(left ^ waiting)[:SHOWN_MAX]}")
        self.counts["still waiting"] = len(left)

    def fail(self, promise: str, at: datetime | None, what: str) -> None:
        """A promise was broken."""
        self.broken[promise].append(what if at is None else f"{at:%d %b %H:%M}: {what}")


class _Round:
    """One round of decisions: who is on duty at its instant, and may still be after those before."""

    def __init__(self, checks: Checks, at: datetime, groups: Mapping[str, Group]) -> None:
        self.checks = checks
        self.at = at
        self.groups = groups
        self.there: dict[str, list[Member]] = {}

    def assigned(self, decision: Assign) -> None:
        checks, number = self.checks, decision.ask.job_id
        one = checks.came_as[number]
        if checks.waiting[one.kind].pop(number, 0) == 0:
            checks.fail("every lead is given once", self.at, f"lead {number} again")
        if number in checks.held:
            checks.counts["held leads given"] += 1
            checks.waited = max(checks.waited, self.at - one.at)
        group = decision.group_id or ""
        if decision.turn is None:
            checks.counts["to a fallback queue"] += 1
            self._nobody(one, one.kind.chain)
        else:
            checks.counts["turns"] += 1
            checks.counts["by fallback group"] += group != one.kind.chain[0]
            self._nobody(one, one.kind.chain[: one.kind.chain.index(group)])
            self._turn(one, decision.turn)
        checks.open_leads[decision.owner_id] += 1
        if (decision.outcome is Outcome.FALLBACK) != (decision.turn is None or group != one.kind.chain[0]):
            checks.fail("outcomes are told", self.at, f"lead {number}: {decision.outcome}")

    def held(self, decision: Hold) -> None:
        checks, one = self.checks, self.checks.came_as[decision.ask.job_id]
        checks.counts["holds"] += 1
        checks.held.add(one.number)
        if decision.behind is None:
            self._nobody(one, one.kind.chain)
            return
        checks.counts["stood back"] += 1
        older = checks.came_as[int(decision.behind[3:15])]
        if older.number >= one.number or older.number not in checks.waiting[older.kind]:
            checks.fail("nobody waits in vain", self.at, f"lead {one.number} behind {older.number}")

    def _turn(self, one: Arrival, turn: Turn) -> None:
        checks, key, member_id = self.checks, turn.group.key, turn.member.id
        on = self.on_duty(key)
        picked = next((member for member in on if member.id == member_id), None)
        if picked is None:
            full = any(member.id == member_id for member in self._there(key))
            promise = "caps are exact" if full else "nobody off duty gets a lead"
            checks.fail(promise, self.at, f"{member_id} got lead {one.number}")
            return
        if not _takes(picked, one.kind):
            checks.fail("nobody gets a lead that they do not accept", self.at, f"{member_id}, lead {one.number}")
        self._oldest(one, key, picked)
        self._fair(key, picked, on, turn)
        checks.turns[key] += 1
        checks.received[picked.id] += 1
        day = (picked.id, _local(picked.zone, self.at).date())
        checks.per_day[day] += 1
        if checks.per_day[day] == picked.daily_cap:
            checks.counts["days at the cap"] += 1

    def _nobody(self, one: Arrival, chain: tuple[str, ...]) -> None:
        """No member of these groups is on duty, below every cap, and takes the lead."""
        for key in chain:
            for member in self.on_duty(key):
                if _takes(member, one.kind):
                    self.checks.fail("nobody waits in vain", self.at, f"{member.id} is free for lead {one.number}")

    def _oldest(self, one: Arrival, key: str, picked: Member) -> None:
        for kind, numbers in self.checks.waiting.items():
            if numbers and key in kind.chain and _takes(picked, kind):
                first = next(iter(numbers))
                if first < one.number:
                    self.checks.fail("the oldest is routed first", self.at, f"{one.number} before {first}")

    def _fair(self, key: str, picked: Member, on: list[Member], turn: Turn) -> None:
        """Of those who take every lead: the picked is not more than 1/w + 1/w ahead of any other."""
        line = self.checks.lines[key]
        starts = _starts(turn.before, on)
        moved = [one.id for one in turn.before.members if one.next_turn != self.checks.next_turns.get(one.id)]
        if moved or abs((turn.member.next_turn or 0) / STRIDE - starts[picked.id] - 1 / picked.weight) > ROUNDING:
            self.checks.fail("every turn is charged once", self.at, f"{moved or picked.id}, turn {turn.number}")
        self.checks.next_turns[picked.id] = turn.member.next_turn
        level = {member.id: member.weight for member in on if not member.accepts and member.reads_leads}
        line.come_and_go(level.keys(), starts)
        if picked.id not in level:
            return
        line.place[picked.id] += 1 / picked.weight
        line.got[picked.id] += 1 / picked.weight
        for name, weight in level.items():
            if name != picked.id:
                stated = starts[picked.id] + 1 / picked.weight - starts[name]
                self._apart(line, picked.id, name, 1 / picked.weight + 1 / weight, stated)

    def _apart(self, line: Line, picked: str, other: str, bound: float, stated: float) -> None:
        """By the rotation's own places always; by leads counted, as long as no debt of either was cut."""
        checks = self.checks
        ahead = line.place[picked] - line.place[other]
        since_met = line.got[picked] - line.got[other] - line.met[picked, other]
        checks.apart = max(checks.apart, since_met / bound)
        if {picked, other} & line.cut:
            checks.counts["pairs after a cut"] += 1
            checks.counts["beyond after a cut"] += ahead > bound + ROUNDING
            checks.furthest = max(checks.furthest, ahead / bound)
            ahead = stated
        checks.counts["pairs judged"] += 1
        checks.closest = max(checks.closest, ahead / bound, stated / bound)
        if max(ahead, stated) > bound + ROUNDING:
            checks.fail("nobody gets ahead of the bound", self.at, f"{picked} {ahead:.3f} ahead of {other}")

    def on_duty(self, key: str) -> list[Member]:
        """Members that are on duty and below every cap, after the decisions so far."""
        return [member for member in self._there(key) if not self._capped(member)]

    def _there(self, key: str) -> list[Member]:
        if key not in self.there:
            self.there[key] = [member for member in self.groups[key].members if self._is_there(member)]
        return self.there[key]

    def _is_there(self, member: Member) -> bool:
        world = self.checks.world
        if not (member.active and member.user_active and not member.frozen and member.weight > 0):
            return False
        if any(one.start <= self.at < one.end for one in world.absences[member.user_id]):
            return False
        return _in_shift(world.shifts[member.hours_id or ""], self.at)

    def _capped(self, member: Member) -> bool:
        checks = self.checks
        if member.daily_cap is not None:
            day = (member.id, _local(member.zone, self.at).date())
            if checks.per_day[day] >= member.daily_cap:
                return True
        return member.open_cap is not None and checks.open_leads[member.user_id] >= member.open_cap


def _takes(member: Member, kind: Kind) -> bool:
    return member.reads_leads and ACCEPTS[member.accepts](kind)


def _in_shift(shift: Shift, at: datetime) -> bool:
    """By the clock on the wall: no shift begins or ends within an hour that the clock skips or shows twice."""
    there = _local(shift.zone, at)
    minute = there.hour * 60 + there.minute
    return _within(shift, there.date(), minute) or _within(shift, there.date() - _DAY, minute + DAY_MIN)


def _within(shift: Shift, day: date, minute: int) -> bool:
    """Whether that minute, counted from this day's midnight, is in the window that starts on the day."""
    window = shift.week[day.weekday()]
    if window is None or not window[0] <= minute < window[1]:
        return False
    shut = shift.closed.get(day)
    if shut == (0, DAY_MIN):
        return False
    return shut is None or not shut[0] <= minute < shut[1]


@lru_cache(maxsize=4096)
def _local(zone: str, at: datetime) -> datetime:
    return at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def _starts(group: Group, on: list[Member]) -> dict[str, float]:
    """Where those on duty stand, in leads per weight: DESIGN section 5, from the group's rows."""
    clock = group.clock
    rows = {one.id: one for one in group.members}
    start = {one.id: max(rows[one.id].next_turn or clock, clock) for one in on}
    low = min(start.values())
    mean = low + sum(one.weight * (start[one.id] - low) for one in on) // sum(one.weight for one in on)
    return {one.id: max(start[one.id], mean - OWED_TURNS * (STRIDE // one.weight)) / STRIDE for one in on}
