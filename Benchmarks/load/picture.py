"""load.svg: server CPU time per request as bars, with the bare check as a line; readable on light and dark backgrounds."""

from xml.sax.saxutils import escape

from report import Bar

WIDTH, LABELS, RIGHT = 760, 200, 60
ROW, THICKNESS, TITLE, GAP = 26, 16, 40, 26

STYLE = """
    .ground { fill: #ffffff; }
    text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
    .value { stroke: #ffffff; stroke-width: 3px; paint-order: stroke; }
    .title { font-weight: 600; font-size: 15px; }
    .note { fill: #59636e; font-size: 12px; }
    .bar { fill: #9aa4af; }
    .ours { fill: #0969da; }
    .bold { font-weight: 600; }
    .floor { stroke: #cf222e; stroke-width: 1.5; stroke-dasharray: 4 3; }
    .floor-note { fill: #cf222e; font-size: 12px; }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117; }
      text { fill: #f0f6fc; }
      .value { stroke: #0d1117; }
      .note { fill: #9198a1; }
      .bar { fill: #656c76; }
      .ours { fill: #4493f8; }
      .floor { stroke: #ff7b72; }
      .floor-note { fill: #ff7b72; }
    }"""


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'  <text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _chart(title: str, bars: list[Bar], floor: float, top: int) -> tuple[list[str], int]:
    """One algorithm's bars, cheapest first, and the y position below them."""
    bars = sorted(bars, key=lambda bar: bar.cpu)
    scale = (WIDTH - LABELS - RIGHT) / max(bar.cpu for bar in bars)
    parts, values = [_text(0, top + 16, title, "title")], []
    y = top + TITLE
    for bar in bars:
        middle, length, kind = y + THICKNESS - 3.5, bar.cpu * scale, "bold" if bar.is_ours else ""
        parts += [
            _text(LABELS - 10, middle, bar.label, kind, "end"),
            f'  <rect x="{LABELS}" y="{y}" width="{length:.1f}" height="{THICKNESS}" rx="2" '
            f'class="{"ours" if bar.is_ours else "bar"}"/>',
        ]
        values.append(_text(LABELS + length + 6, middle, f"{bar.cpu:.1f}", f"value {kind}".strip()))
        y += ROW
    line = LABELS + floor * scale
    parts += [
        f'  <line x1="{line:.1f}" y1="{top + TITLE - 6}" x2="{line:.1f}" y2="{y}" class="floor"/>',
        *values,  # drawn over the line, which may cross a value
        _text(line, y + 13, f"bare check {floor:.1f}", "floor-note", "middle"),
    ]
    return parts, y + 13


def draw(bars: dict[str, list[Bar]], floors: dict[str, float]) -> str:
    parts, top = [], GAP
    parts.append(_text(0, 14, "Server CPU time per request in µs (less is better)", "note"))
    for algorithm, found in bars.items():
        chart, end = _chart(f"{algorithm}, distinct tokens", found, floors[algorithm], top)
        parts += chart
        top = end + GAP
    margin = 12
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-{margin} -{margin} {WIDTH + 2 * margin} {top}" '
            f'width="{WIDTH + 2 * margin}" height="{top}" role="img" aria-label="Server CPU time per request">',
            f"  <style>{STYLE}\n  </style>",
            # With its own background, the picture is readable in viewers that do not know the page's colours.
            f'  <rect x="-{margin}" y="-{margin}" width="{WIDTH + 2 * margin}" height="{top}" rx="6" class="ground"/>',
            *parts,
            "</svg>",
            "",
        ]
    )
