"""Charts as SVG texts. Colours are the style sheet's, so that light, dark and paper all work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDE, NARROW = 720, 350
LEFT, TOP, BOTTOM = 44, 12, 34
ROW = 24
NAME = 150


@dataclass(frozen=True, slots=True)
class Line:
    """A line over the columns, by their places: `heights` from 0 to 1 of the chart."""

    css: str
    heights: Sequence[float]
    says: str


@dataclass(frozen=True, slots=True)
class Row:
    """A bar: what was got, and beside it what is even."""

    name: str
    value: float
    even: float


def svg(width: int, height: int, title: str, parts: Iterator[str] | Sequence[str]) -> str:
    """A drawing that a screen reader reads as its title."""
    inside = "".join(parts)
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title, quote=True)}" '
        f'xmlns="http://www.w3.org/2000/svg">{inside}</svg>'
    )


def text(x: float, y: float, said: str, *, anchor: str = "middle", css: str = "") -> str:
    """A word."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{css}">{escape(said)}</text>'


def rect(x: float, y: float, width: float, height: float, css: str, says: str = "") -> str:
    """A filled box, with what it says when pointed at."""
    told = f"<title>{escape(says)}</title>" if says else ""
    size = f'width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} class="{css}">{told}</rect>'


def columns(
    title: str,
    names: Sequence[str],
    values: Sequence[float],
    *,
    width: int = WIDE,
    height: int = 220,
    bad: Sequence[bool] = (),
    line: Line | None = None,
    even: float | None = None,
    axis: str = "",
    every: int = 1,
) -> str:
    """Upright columns with their names below; every `every`-th name is shown, `even` is a level line."""
    most = max([*values, even or 0, 1e-9])
    floor, span = height - BOTTOM, height - BOTTOM - TOP - 14
    step = (width - LEFT - 8) / max(1, len(values))

    def parts() -> Iterator[str]:
        yield f'<line x1="{LEFT}" y1="{floor}" x2="{width - 8}" y2="{floor}" class="axis"/>'
        yield text(LEFT - 6, TOP + 18, short(most), anchor="end", css="dim")
        yield text(LEFT - 6, floor, "0", anchor="end", css="dim")
        for place, (name, value) in enumerate(zip(names, values, strict=True)):
            x, tall = LEFT + place * step, span * value / most
            css = "bad" if bad and bad[place] else "bar"
            yield rect(x + step * 0.1, floor - tall, step * 0.8, tall, css, f"{name}: {short(value)}")
            if place % every == 0:
                yield text(x + step / 2, floor + 16, name, css="dim")
        if even is not None:
            y = floor - span * even / most
            yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{width - 8}" y2="{y:.1f}" class="even"/>'
        if line is not None:
            points = " ".join(
                f"{LEFT + (place + 0.5) * step:.1f},{floor - span * tall:.1f}"
                for place, tall in enumerate(line.heights)
            )
            yield f'<polyline points="{points}" class="{line.css}"/>'
        yield text(LEFT, TOP, axis, anchor="start", css="dim")

    return svg(width, height, title, parts())


def bars(title: str, rows: Sequence[Row], *, width: int = WIDE) -> str:
    """Level bars, each with its name before it, its number behind it and a mark where the even share is."""
    most = max([*(row.value for row in rows), *(row.even for row in rows), 1e-9])
    room = width - NAME - 70

    def parts() -> Iterator[str]:
        for place, row in enumerate(rows):
            y = 6 + place * ROW
            off = abs(row.value - row.even) > max(10, 0.2 * row.even)
            yield text(NAME - 8, y + 15, clipped(row.name), anchor="end")
            yield rect(
                NAME, y + 3, room * row.value / most, ROW - 8, "bad" if off else "bar", f"{row.name}: {row.value:,.0f}"
            )
            mark = NAME + room * row.even / most
            yield f'<line x1="{mark:.1f}" y1="{y}" x2="{mark:.1f}" y2="{y + ROW - 2}" class="mark"/>'
            yield text(NAME + room * max(row.value, row.even) / most + 8, y + 15, f"{row.value:,.0f}", anchor="start")

    return svg(width, 12 + ROW * len(rows), title, parts())


def dots(title: str, names: Sequence[str], places: Sequence[int | None], cut: int, *, width: int = WIDE) -> str:
    """A dot for each lead in order, at the height of its rep; a line before the lead at which the order broke."""
    step = (width - NAME - 12) / max(1, len(places))
    height = 16 + ROW * len(names) + 16

    def parts() -> Iterator[str]:
        for row, name in enumerate(names):
            y = 16 + ROW * row + ROW / 2
            yield text(NAME - 8, y + 4, clipped(name), anchor="end")
            yield f'<line x1="{NAME}" y1="{y}" x2="{width - 8}" y2="{y}" class="axis"/>'
        for lead, at in enumerate(places):
            if at is not None:
                x, y = NAME + (lead + 0.5) * step, 16 + ROW * at + ROW / 2
                yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="{"bar" if lead < cut else "bad"}"/>'
        x = NAME + cut * step
        yield f'<line x1="{x:.1f}" y1="8" x2="{x:.1f}" y2="{height - 14}" class="cut"/>'
        yield text(x, height - 2, "here", css="dim")

    return svg(width, height, title, parts())


def short(value: float) -> str:
    """A number as short as it can be."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"  # noqa: PLR2004 - two digits


def clipped(name: str, most: int = 22) -> str:
    """A name that fits before its bar."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
