"""Renders a tool call as HTML for an export: its command, diffs and output."""

import html
import re
from typing import Any

import msgspec

from bascule.hub.export.export_prose import prose
from bascule.hub.export.export_words import exact, input_of, near, said
from bascule.model.entries import ToolEntry
from bascule.model.events import Diff

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")
_ESCAPES = re.compile(r"\x1b\[[0-9;:?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
SPEAKING = ("agent", "think", "fetch")  # their output is prose


def tool_body(entry: ToolEntry, cwd: str) -> str:
    given = input_of(entry.input)
    broken = entry.status in ("failed", "denied")
    head = "".join(_diff(diff, cwd) for diff in entry.diffs) or _given(entry, given)
    if entry.diffs and not broken:
        return head
    return head + (
        _prose(entry.output) if entry.tool_kind in SPEAKING and not broken else _output(entry.output)
    )


def _given(entry: ToolEntry, given: dict[str, Any]) -> str:
    command = given.get("command", given.get("cmd"))
    if entry.tool_kind == "execute" and isinstance(command, str):
        sign = '<span class="prompt-sign">$ </span>'
        return f'<div class="tool__command"><pre>{sign}<code>{html.escape(exact(command))}</code></pre></div>'
    if entry.tool_kind == "read":
        return ""  # its line names the file
    rows = "".join(
        f"<dt>{html.escape(exact(str(name)))}</dt><dd>{html.escape(exact(_written(value)))}</dd>"
        for name, value in given.items()
    )
    return f'<dl class="params">{rows}</dl>' if rows else ""


def _written(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _output(text: str) -> str:
    plain = _ESCAPES.sub("", text).rstrip()
    return f'<pre class="tool__output">{html.escape(exact(plain))}</pre>' if plain else ""


def _prose(text: str) -> str:
    return f'<div class="agent-message small">{prose(said(text))}</div>' if text.strip() else ""


def _diff(diff: Diff, cwd: str) -> str:
    path = html.escape(exact(near(diff.path, cwd)))
    return f'<p class="fname"><code>{path}</code></p><div class="diff">{_rows(diff.patch)}</div>'


def _rows(patch: str) -> str:
    """The patch line by line, each with the number it has on its own side."""
    left = right = 0
    rows: list[str] = []
    for row in patch.removesuffix("\n").split("\n"):
        hunk = _HUNK.fullmatch(row)
        if hunk:
            left, right = int(hunk[1]), int(hunk[2])
            if hunk[3] or rows:
                rows.append(_row("is-head", "", "", hunk[3] or "⋯"))
        elif row.startswith("+"):
            rows.append(_row("is-added", str(right), "+", row[1:]))
            right += 1
        elif row.startswith("-"):
            rows.append(_row("is-deleted", str(left), "−", row[1:]))
            left += 1
        elif not row.startswith("\\"):
            rows.append(_row("", str(right), "", row[1:]))
            left, right = left + 1, right + 1
    return "".join(rows)


def _row(kind: str, number: str, sign: str, text: str) -> str:
    code = html.escape(exact(text)) or " "
    return (
        f'<div class="{f"diff-line {kind}".strip()}"><span class="line-number">{number}</span>'
        f'<span class="diff-line__sign">{sign}</span><code>{code}</code></div>'
    )
