"""Whether this process is metered: it is where it answers over HTTP, and `prometheus-client` is installed."""

from __future__ import annotations

import contextlib
import importlib.util
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from lead_router.app import gauges
from lead_router.app.queuelook import QueueLook
from lead_router.app.wiring import Wired, now
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.vitals import Vitals
from lead_router.ports import JobStore
from lead_router.ports.meter import NO_METER, Meter
from lead_router.settings import Settings

if TYPE_CHECKING:
    from lead_router.app.metrics import Metrics

INSTALL: Final = "pip install 'lead-router[operations]', or in a checkout pip install --editable '.[operations]'"


class Metering:
    """The process's meter, and what `/metrics` answers; where nobody can ask, it counts nothing."""

    def __init__(self, settings: Settings, vitals: Vitals) -> None:
        self._channel = settings.stream_channel
        self._metrics = _metrics() if settings.health_address else None
        self.meter: Meter = self._metrics or NO_METER
        if self._metrics is not None:
            self._metrics.look_at(partial(gauges.of_process, vitals))

    def text(self) -> bytes | None:
        """In the text format of Prometheus; None where its client is not installed."""
        return None if self._metrics is None else self._metrics.text()

    @contextlib.contextmanager
    def looking(
        self, wired: Wired, current: Current, breakers: Mapping[str, Breaker], open_store: Callable[[], JobStore]
    ) -> Iterator[None]:
        """While the block lasts, the org's allowance, the groups, the breakers and the queue are looked at, too."""
        if self._metrics is None:
            yield
            return
        queue = QueueLook(open_store, time.monotonic)
        self._metrics.look_at(lambda: gauges.of_usage(wired.rest.usage()))
        self._metrics.look_at(lambda: gauges.of_groups(wired.org.groups(), current.get(), now()))
        self._metrics.look_at(partial(gauges.of_breakers, breakers))
        self._metrics.look_at(partial(gauges.of_queue, queue.look, self._channel))
        try:
            yield
        finally:
            queue.close()


def _metrics() -> Metrics | None:
    if importlib.util.find_spec("prometheus_client") is None:
        return None
    from lead_router.app.metrics import Metrics  # noqa: PLC0415 - it needs what may not be installed

    return Metrics()
