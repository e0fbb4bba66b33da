"""A line chart as a plain SVG file: one picture for a row of measurements, without any library."""

from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from pathlib import Path

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 40, 48
COLOURS = ("#1f6feb", "#d1711c", "#2f8f4e", "#8250df")
LINES = 4  # across, besides the ground

Point = tuple[float, float]


def write_plot(path: Path, title: str, across: str, up: str, lines: Mapping[str, Sequence[Point]]) -> None:
    """`across` and `up` name the axes; the one across is logarithmic, with 0 at its left end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawn(title, across, up, lines), encoding="utf-8")


def drawn(title: str, across: str, up: str, lines: Mapping[str, Sequence[Point]]) -> str:
    points = [point for line in lines.values() for point in line]
    highest = _round_up(max(y for _, y in points))
    places = sorted({x for x, _ in points})

    def at(x: float, y: float) -> tuple[float, float]:
        low, high = _scale(places[0]), _scale(places[-1])
        part = (_scale(x) - low) / (high - low) if high > low else 0.5
        return LEFT + part * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y / highest * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12" fill="#444"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="20" font-size="14" fill="#111">{escape(title)}</text>',
        f'<text x="{LEFT}" y="{HEIGHT - 8}">{escape(across)}</text>',
        f'<text x="8" y="{TOP - 6}">{escape(up)}</text>',
    ]
    for n in range(LINES + 1):
        value = highest * n / LINES
        (left, y), (right, _) = at(places[0], value), at(places[-1], value)
        parts.append(f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    for x in places:
        place = at(x, 0)
        words = f"{x:,.0f}"
        parts.append(f'<text x="{place[0]:.1f}" y="{place[1] + 18:.1f}" text-anchor="middle">{words}</text>')
    for (name, line), colour in zip(lines.items(), COLOURS, strict=False):
        placed = [at(*point) for point in line]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in placed]
        x, y = placed[-1]
        parts.append(f'<text x="{x + 10:.1f}" y="{y + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _scale(x: float) -> float:
    return log10(x + 1)


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 8 times a power of ten: four lines across then stand at round numbers."""
    if value <= 0:
        return 1.0
    unit = 10.0 ** int(log10(value) // 1)
    return next(n * unit for n in (1, 2, 4, 8, 10) if n * unit >= value)
