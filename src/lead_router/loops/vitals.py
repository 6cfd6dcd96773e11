"""Vitals: what the loops tell of themselves, each on its own thread, and what that makes of the program's health.

Live: no loop has died, keeps failing on something that neither waiting nor the org's people mend, or has given no sign
of life for too long. An outage of Salesforce or of the database, or a login that is refused, is no reason to end a
program that waits for its end.
Ready: live, started, no loop is in an outage, the last routing was not refused by the service, and the stream is heard:
subscribed, answered in time and not silent. Who waits while another process listens is ready as such.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from lead_router.errors import OUTAGES, OWN_WORDS

Stage: TypeAlias = Literal["starting", "running", "stopping"]


@dataclass(frozen=True, slots=True)
class Beat:
    """A loop as it was last seen. `due_at` is when its next sign of life is awaited, in seconds of the clock.

    `faults` counts the steps that failed in a row, `outage` says that waiting, or a person in the org, may mend the
    last one, `died` that it ended by it.
    """

    loop: str
    due_at: float
    faults: int = 0
    text: str = ""
    outage: bool = False
    died: bool = False


@dataclass(frozen=True, slots=True)
class Ear:
    """How the stream is heard: `told` in one word or two, `fault` if that is not as it should be."""

    told: str
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A part that is not as it should be, and why, without secrets."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class Health:
    """One moment's health. `dying` holds why it is not live, `waiting` why it is not ready though it lives."""

    stage: Stage
    stream: str
    dying: tuple[Fault, ...]
    waiting: tuple[Fault, ...]

    @property
    def live(self) -> bool:
        """Nothing but a restart would help otherwise."""
        return not self.dying

    @property
    def ready(self) -> bool:
        """Leads are heard of and routed, as far as this process knows."""
        return not self.dying and not self.waiting


class Pulse:
    """One loop's signs of life. Only the loop's own thread gives them."""

    def __init__(self, loop: str, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self.last = Beat(loop, monotonic())

    def beat(self) -> None:
        """There is progress within a step."""
        self.last = replace(self.last, due_at=self._monotonic())

    def well(self, rest_s: float = 0.0) -> None:
        """A step ended well; the loop may now rest."""
        self.last = Beat(self.last.loop, self._monotonic() + rest_s)

    def failed(self, fault: Exception) -> int:
        """A step failed; the answer is how many did in a row by the same kind of fault, outage or not."""
        outage, former = isinstance(fault, OUTAGES), self.last
        faults = former.faults + 1 if former.outage == outage else 1
        # The text of a fault that nobody foresaw may hold anything.
        tells = outage or type(fault) in OWN_WORDS
        text = f"{type(fault).__name__}: {fault}" if tells else f"{type(fault).__name__}, told in the log"
        self.last = Beat(former.loop, self._monotonic(), faults=faults, text=text, outage=outage)
        return faults

    def died(self) -> None:
        """The loop ended though nobody had asked it to."""
        self.last = replace(self.last, died=True)


class Vitals:
    """Shared by the loops of one process and by whoever asks how it is; asking waits for nothing and nobody."""

    def __init__(self, monotonic: Callable[[], float], *, patience_s: float) -> None:
        self._monotonic = monotonic
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._pulses: dict[str, Pulse] = {}
        self.stage: Stage = "starting"
        self.start_waits: str | None = None
        self.ear: Callable[[], Ear] = lambda: Ear("unknown", "the loop that listens has not begun")
        self.refusal: Callable[[], str | None] = lambda: None

    def pulse(self, loop: str) -> Pulse:
        """The loop's pulse, made when first asked for."""
        with self._lock:
            if loop not in self._pulses:
                self._pulses[loop] = Pulse(loop, self._monotonic)
            return self._pulses[loop]

    def beat(self) -> None:
        """A sign of life of the loop on whose thread this is called, if it is one's."""
        pulse = self._pulses.get(threading.current_thread().name)
        if pulse is not None:
            pulse.beat()

    def health(self) -> Health:
        """How the program is at this moment."""
        if self.stage == "starting":
            return Health("starting", "unknown", (), (Fault("start", self.start_waits or "it has not ended"),))
        with self._lock:
            beats = [pulse.last for pulse in self._pulses.values()]
        ear = self.ear()
        dying = [Fault(beat.loop, why) for beat in beats if (why := self._dying(beat))]
        return Health(self.stage, ear.told, tuple(dying), tuple(self._waiting(beats, ear)))

    def _dying(self, beat: Beat) -> str | None:
        if beat.died:
            return f"it died{': ' * bool(beat.text)}{beat.text}"
        if beat.faults and not beat.outage:
            return f"it failed {beat.faults} times in a row: {beat.text}"
        late_s = self._monotonic() - beat.due_at
        if late_s > self._patience_s:
            return f"it has given no sign of life for {late_s:.0f} s"
        return None

    def _waiting(self, beats: Sequence[Beat], ear: Ear) -> list[Fault]:
        waiting = [Fault(beat.loop, f"{beat.text} ({beat.faults} times in a row)") for beat in beats if beat.outage]
        refusal = self.refusal()
        if self.stage == "stopping":
            waiting.append(Fault("stop", "it was told to stop"))
        if refusal is not None:
            waiting.append(Fault("routing", refusal))
        if ear.fault is not None:
            waiting.append(Fault("stream", ear.fault))
        return waiting
