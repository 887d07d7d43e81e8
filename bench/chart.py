"""Line charts as SVG: logarithmic axes, one panel per quantity, readable on light and dark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from bench.report import Series

PANEL_WIDTH, PANEL_HEIGHT = 450, 290
COLUMNS = 2
LEGEND_HEIGHT = 44  # of its first line
LEGEND_LINE = 22
LEFT, RIGHT, TOP, BOTTOM = 58, 22, 34, 52  # around the plot inside its panel
EDGE = 0.06  # of the axis, kept free beyond the first and last point

# Mid tones that keep their contrast on white and on near-black.
COLOURS = ("#3d84e0", "#d9772b", "#3a9d5d", "#a362c7", "#c9517a", "#8a8f2a", "#2a9aa0", "#9a6b4b")
DASHES = ("", "6 4", "2 4", "10 3 2 3")  # so that colour is not the only difference
INK = "#7d8590"
GRID_OPACITY = 0.28
SUFFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps a logarithmic range onto pixels."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> Axis:
        low, high = math.log10(min(values)), math.log10(max(values))
        if high - low < 0.3:  # nearly one value: show some of what is around it
            low, high = low - 0.5, high + 0.5
        margin = (high - low) * EDGE
        return cls(low - margin, high + margin, start, end)

    def place(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Powers of ten; with 2 and 5 between them where there are too few."""
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        for steps in ((1,), (1, 3), (1, 2, 5)):
            found = [step * 10.0**power for power in powers for step in steps]
            inside = [value for value in found if self.low <= math.log10(value) <= self.high]
            if len(inside) >= 3:
                return inside
        return inside


def draw(series: Sequence[Series]) -> str:
    """One SVG picture with a panel for each ``Series.panel``, in the order they come."""
    panels = list(dict.fromkeys(one.panel for one in series))
    names = list(dict.fromkeys(one.name for one in series))
    rows = math.ceil(len(panels) / COLUMNS)
    legend, width = list(_legend(names)), PANEL_WIDTH * COLUMNS
    top = LEGEND_HEIGHT + LEGEND_LINE * (len(_places(names)) - 1)
    height = top + PANEL_HEIGHT * rows
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="12" '
        f'fill="{INK}">',
        f"<title>{escape('; '.join(panels))}, against the number of records</title>",
        *legend,
    ]
    for place, panel in enumerate(panels):
        x = place % COLUMNS * PANEL_WIDTH
        y = top + place // COLUMNS * PANEL_HEIGHT
        parts.append(f'<g transform="translate({x} {y})">')
        parts += _panel([one for one in series if one.panel == panel], names)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _places(names: Sequence[str]) -> list[list[tuple[float, int]]]:
    """Line by line, where each name of the legend begins."""
    lines: list[list[tuple[float, int]]] = [[]]
    x = float(LEFT)
    for place, name in enumerate(names):
        width = 60 + 7.2 * len(name)
        if lines[-1] and x + width > PANEL_WIDTH * COLUMNS:
            lines.append([])
            x = float(LEFT)
        lines[-1].append((x, place))
        x += width
    return lines


def _legend(names: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(_places(names)):
        y = 22 + number * LEGEND_LINE
        for x, place in line:
            yield _line([(x, y), (x + 30, y)], place)
            yield f'<circle cx="{x + 15}" cy="{y}" r="3.5" fill="{_colour(place)}"/>'
            yield f'<text x="{x + 38}" y="{y + 4}" font-size="13">{escape(names[place])}</text>'


def _panel(series: Sequence[Series], names: Sequence[str]) -> Iterator[str]:
    horizontal = Axis.over([x for one in series for x, _ in one.points], LEFT, PANEL_WIDTH - RIGHT)
    vertical = Axis.over([y for one in series for _, y in one.points], PANEL_HEIGHT - BOTTOM, TOP)
    title = f"{series[0].panel}, {series[0].unit}"
    yield f'<text x="{LEFT}" y="20" font-size="14" font-weight="600">{escape(title)}</text>'
    yield from _grid(horizontal, vertical)
    for one in series:
        place = names.index(one.name)
        points = [(horizontal.place(x), vertical.place(y)) for x, y in one.points]
        yield _line(points, place)
        for (x, y), (_, value) in zip(points, one.points, strict=True):
            yield (
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{_colour(place)}">'
                f"<title>{escape(one.name)}: {value:.3g} {escape(one.unit)}</title></circle>"
            )


def _grid(horizontal: Axis, vertical: Axis) -> Iterator[str]:
    for value in vertical.ticks():
        y = vertical.place(value)
        yield _hair(horizontal.start, y, horizontal.end, y)
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_short(value)}</text>'
    for value in horizontal.ticks():
        x = horizontal.place(value)
        yield _hair(x, vertical.start, x, vertical.end)
        label = vertical.start + 17
        yield f'<text x="{x:.1f}" y="{label:.1f}" text-anchor="middle">{_short(value)}</text>'
    middle = (horizontal.start + horizontal.end) / 2
    below = vertical.start + 33
    yield f'<text x="{middle:.1f}" y="{below:.1f}" text-anchor="middle">records</text>'


def _hair(x1: float, y1: float, x2: float, y2: float) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{INK}" '
        f'stroke-opacity="{GRID_OPACITY}"/>'
    )


def _line(points: Sequence[tuple[float, float]], place: int) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashes = DASHES[place % len(DASHES)]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<polyline points="{path}" fill="none" stroke="{_colour(place)}" stroke-width="2.2" '
        f'stroke-linejoin="round"{dashed}/>'
    )


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def _short(value: float) -> str:
    """1000 -> 1k."""
    for size, suffix in SUFFIXES:
        if value >= size:
            return f"{value / size:g}{suffix}"
    return f"{value:g}"
