"""The meter that Prometheus reads: one registry per process, in the format of its client. Needs `prometheus-client`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TypeVar

import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from lead_router.app.gauges import SCRAPED, Told
from lead_router.ports.meter import FIGURES, Figure, Kind

_log = structlog.get_logger(__name__)

Parent = TypeVar("Parent", Counter, Gauge, Histogram)

Source = Callable[[], Iterable[Told]]
"""What is looked at when somebody asks; called on the thread that asks."""


class Metrics:
    """See Meter. `sources` may grow while it is asked: a process that starts has little to tell."""

    def __init__(self, pushed: Iterable[Figure] = FIGURES, scraped: Iterable[Figure] = SCRAPED) -> None:
        uncreated: Callable[[], None] = disable_created_metrics
        uncreated()  # a second series for each counter, of which nobody has any use
        self.registry = CollectorRegistry(auto_describe=False)
        self._counters: dict[Figure, Counter] = {}
        self._gauges: dict[Figure, Gauge] = {}
        self._histograms: dict[Figure, Histogram] = {}
        # Looked up once for each set of labels: their client takes longer for that than for counting.
        self._counter = cache(lambda figure, labels: _child(self._counters[figure], labels))
        self._gauge = cache(lambda figure, labels: _child(self._gauges[figure], labels))
        self._histogram = cache(lambda figure, labels: _child(self._histograms[figure], labels))
        for figure in pushed:
            self._make(figure)
        self._looks = _Looks(tuple(scraped))
        self.registry.register(self._looks)
        ProcessCollector(registry=self.registry)

    def look_at(self, source: Source) -> None:
        """Ask it, too, from now on."""
        self._looks.sources.append(source)

    def text(self) -> bytes:
        """All figures as they are now."""
        return generate_latest(self.registry)

    def count(self, figure: Figure, *labels: str, by: float = 1.0) -> None:
        """A counter grows."""
        self._counter(figure, labels).inc(by)

    def observe(self, figure: Figure, value: float, *labels: str) -> None:
        """A histogram has one more."""
        self._histogram(figure, labels).observe(value)

    def set(self, figure: Figure, value: float, *labels: str) -> None:
        """A gauge stands there now."""
        self._gauge(figure, labels).set(value)

    def _make(self, figure: Figure) -> None:
        match figure.kind:
            case Kind.COUNTER:
                self._counters[figure] = Counter(figure.name, figure.told, figure.labels, registry=self.registry)
                for labels in figure.known:
                    self.count(figure, *labels, by=0.0)
            case Kind.GAUGE:
                self._gauges[figure] = Gauge(figure.name, figure.told, figure.labels, registry=self.registry)
            case Kind.HISTOGRAM:
                self._histograms[figure] = Histogram(
                    figure.name, figure.told, figure.labels, buckets=figure.bounds, registry=self.registry
                )


def _child(parent: Parent, labels: tuple[str, ...]) -> Parent:
    return parent.labels(*labels) if labels else parent


class _Looks(Collector):
    """Figures that are looked at when somebody asks; those that no source tells now are named without a value."""

    def __init__(self, figures: tuple[Figure, ...]) -> None:
        self._figures = figures
        self.sources: list[Source] = []

    def collect(self) -> Iterator[Metric]:
        """Each figure once. A source that fails takes nothing else with it."""
        families = {figure: _family(figure) for figure in self._figures}
        for source in tuple(self.sources):
            try:
                for figure, value, labels in source():
                    families[figure].add_metric(labels, float(value))
            except Exception:  # noqa: BLE001 - the others are told all the same
                _log.exception("metrics_not_looked_at")
        yield from families.values()


def _family(figure: Figure) -> CounterMetricFamily | GaugeMetricFamily:
    made = CounterMetricFamily if figure.kind is Kind.COUNTER else GaugeMetricFamily
    return made(figure.name, figure.told, labels=figure.labels)
