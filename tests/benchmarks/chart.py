"""A chart as SVG: measures one below the other, as lines over the same axis or as bars, each from zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT = 760, 64, 16
PANEL, GAP, TOP = 96, 38, 34
INK, LINE, RULE = "#1f2328", "#0969da", "#d0d7de"
HEADROOM = 1.15  # so that a flat line is not taken for the upper edge
BAR, NAMES, TOLD = 20, 250, 110  # height of a bar with its gap; room for names before it, for figures behind it


@dataclass(frozen=True, slots=True)
class Panel:
    """One measure; `points` are (x, y), x ascending."""

    title: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Bars:
    """One measure; each bar is its name, its length and what is written behind it."""

    title: str
    bars: Sequence[tuple[str, float, str]]


def svg(title: str, axis: str, panels: Sequence[Panel]) -> str:
    """The whole picture; `axis` says what x counts."""
    height = TOP + len(panels) * (PANEL + GAP) + 8
    most = max(x for panel in panels for x, _ in panel.points)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(LEFT, 18, title, size=14),
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, TOP + GAP / 2 + place * (PANEL + GAP), most)
    parts.append(_text(WIDTH - RIGHT, height - 6, f"{most:,.0f} {axis}", anchor="end"))
    return "\n".join([*parts, "</svg>", ""])


def bars(title: str, groups: Sequence[Bars]) -> str:
    """The whole picture: each measure with a scale of its own."""
    height = TOP + sum(GAP + BAR * len(group.bars) for group in groups) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(RIGHT, 18, title, size=14),
    ]
    top = float(TOP)
    for group in groups:
        parts.append(_text(RIGHT, top + GAP - 14, group.title, weight="bold"))
        top += GAP
        most = max(length for _, length, _ in group.bars) or 1.0
        for name, length, told in group.bars:
            wide = max(1.0, (WIDTH - NAMES - TOLD) * length / most)
            parts.append(_text(NAMES - 8, top + BAR - 8, name, anchor="end"))
            parts.append(f'<rect x="{NAMES}" y="{top + 3:.1f}" width="{wide:.1f}" height="{BAR - 6}" fill="{LINE}"/>')
            parts.append(_text(NAMES + wide + 6, top + BAR - 8, told))
            top += BAR
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, top: float, most: float) -> list[str]:
    highest = max(y for _, y in panel.points) or 1.0
    room = WIDTH - LEFT - RIGHT

    def placed(x: float, y: float) -> str:
        return f"{LEFT + room * x / most:.1f},{top + PANEL * (1 - y / (highest * HEADROOM)):.1f}"

    at_highest = top + PANEL * (1 - 1 / HEADROOM)
    line = " ".join(placed(x, y) for x, y in panel.points)
    return [
        _text(LEFT, top - 5, panel.title),
        _rule(top + PANEL),
        _rule(at_highest),
        _text(LEFT - 6, at_highest + 4, f"{highest:,.1f}".removesuffix(".0"), anchor="end"),
        _text(LEFT - 6, top + PANEL + 4, "0", anchor="end"),
        f'<polyline points="{line}" fill="none" stroke="{LINE}" stroke-width="1.5"/>',
    ]


def _rule(y: float) -> str:
    return f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{RULE}"/>'


def _text(x: float, y: float, text: str, *, size: int = 12, anchor: str = "start", weight: str = "") -> str:
    told, heavy = escape(text), f' font-weight="{weight}"' if weight else ""
    return f'<text x="{x:g}" y="{y:.1f}" font-size="{size}" fill="{INK}" text-anchor="{anchor}"{heavy}>{told}</text>'
