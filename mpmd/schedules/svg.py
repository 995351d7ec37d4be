"""Draws a simulated step as an SVG file: meshes down, time across, one box a task."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mpmd.schedules.grid import Box
from mpmd.schedules.task import Kind

if TYPE_CHECKING:
    from mpmd.schedules.report import ScheduleReport

_FILL = {Kind.F: "#8ab4f8", Kind.B: "#81c995", Kind.Bi: "#a8dab5", Kind.Bw: "#fdd663"}
_MIXED = "#c58af9"  # forward and backward in one
_WORD = {
    Kind.F: "forward",
    Kind.B: "backward",
    Kind.Bi: "input gradient",
    Kind.Bw: "weight gradient",
}
_ROW, _BAR, _LABEL, _TOP, _CHARACTER = 26, 22, 110, 56, 6.4
_MIN_WIDTH, _MAX_WIDTH = 600.0, 16000.0


def draw(report: ScheduleReport) -> str:
    """Returns the text of the SVG file."""
    scale = _scale(report)
    width = _LABEL + report.makespan * scale + 20
    bottom = _TOP + _ROW * len(report.meshes)
    height = bottom + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-family="monospace" font-size="11">',
        f"<title>{escape(report.title)}</title>",
        f'<rect width="{width:.0f}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="18" font-size="14">{escape(report.title)}</text>',
        f'<text x="8" y="38">{escape(_summary(report))}</text>',
    ]
    for row, mesh in enumerate(report.meshes):
        y = _TOP + row * _ROW
        parts.append(f'<text x="8" y="{y + 15}">{escape(mesh)}</text>')
        parts.append(
            f'<rect x="{_LABEL}" y="{y}" width="{report.makespan * scale:.1f}" height="{_BAR}" '
            'fill="#f1f3f4"/>'
        )
    critical = set(report.critical_boxes)
    for index, box in enumerate(report.boxes):
        if box.end > box.start:
            parts.append(_box(box, scale, index in critical))
    parts += [*_legend(report, bottom + 20), "</svg>"]
    return "\n".join(parts) + "\n"


def _scale(report: ScheduleReport) -> float:
    """Returns how wide a unit of time is: enough for names, within a page's limits."""
    needed = max(
        (
            (len(box.text) * _CHARACTER + 4) / (box.end - box.start)
            for box in report.boxes
            if box.end > box.start
        ),
        default=1.0,
    )
    total = max(report.makespan, 1e-12)
    return min(max(needed, _MIN_WIDTH / total), _MAX_WIDTH / total)


def _box(box: Box, scale: float, critical: bool) -> str:
    x, y = _LABEL + box.start * scale, _TOP + box.mesh * _ROW
    width = (box.end - box.start) * scale
    fill = _FILL[box.kinds[0]] if len(box.kinds) == 1 else _MIXED
    stroke = 'stroke="#d93025" stroke-width="1.5"' if critical else 'stroke="#5f6368"'
    text = escape(box.text)
    parts = [
        f"<g><title>{text}: {box.start:g} to {box.end:g}</title>"
        f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{_BAR}" fill="{fill}" {stroke}/>'
    ]
    if len(box.text) * _CHARACTER <= width:
        middle = x + width / 2
        parts.append(f'<text x="{middle:.2f}" y="{y + 15}" text-anchor="middle">{text}</text>')
    return "".join([*parts, "</g>"])


def _summary(report: ScheduleReport) -> str:
    return (
        f"step time {report.step_time:g}, bubble {report.bubble_fraction:.1%}, "
        f"peak memory {max(report.peak_memory, default=0.0):g}; red frames: the critical path"
    )


def _legend(report: ScheduleReport, y: int) -> list[str]:
    parts, x = [], float(_LABEL)
    used = {box.kinds[0] for box in report.boxes if len(box.kinds) == 1}
    for kind in sorted(used):
        parts.append(
            f'<rect x="{x:.0f}" y="{y - 10}" width="12" height="12" fill="{_FILL[kind]}"/>'
        )
        parts.append(f'<text x="{x + 17:.0f}" y="{y}">{_WORD[kind]}</text>')
        x += 35 + len(_WORD[kind]) * _CHARACTER
    return parts
