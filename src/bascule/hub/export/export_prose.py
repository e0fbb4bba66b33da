"""Renders an agent's Markdown as HTML for an export: no markup of its own, no pictures, web links only."""

import html
import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

MAX_MARKDOWN = 200_000
MAX_MARKS = 3000  # the page's own bounds: what is longer, or marked more often, is shown as it was written
_MARK = re.compile(r"[*_~\[<]")
_TASK = re.compile(r"\[([ xX])\][ \t]+")
_WEB = re.compile(r"https?://|mailto:", re.IGNORECASE)
# Each runs as its own first letters do.
_WRITTEN = ("paragraph_open", "heading_open", "list_item_open", "th_open", "td_open", "blockquote_open")


def prose(text: str) -> str:
    """`text` has been redacted and sanitized; what comes back is safe to put into a page."""
    if len(text) > MAX_MARKDOWN or len(_MARK.findall(text)) > MAX_MARKS:
        return f'<pre class="plain">{html.escape(text)}</pre>'
    return _reader().render(text)


class _Writer(RendererHTML):
    """The elements a transcript has in the page: framed code, tables that scroll, pictures as words."""

    def fence(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        token = tokens[idx]
        language = html.escape((token.info.split() or ["text"])[0][:40])
        code = _diff(token.content) if language in ("diff", "patch") else html.escape(token.content)
        return (
            f'<div class="code-block"><header><span>{language}</span></header>'
            f"<pre><code>{code}</code></pre></div>\n"
        )

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        return f'<div class="code-block"><pre><code>{html.escape(tokens[idx].content)}</code></pre></div>\n'

    def image(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        """Opening the file sends nothing to anybody."""
        token = tokens[idx]
        alt = self.renderInlineAsText(token.children or [], options, env) or "Picture"
        host = urlsplit(str(token.attrGet("src") or "")).hostname
        where = f"picture from {host}, not loaded" if host else "picture, not loaded"
        return f'<span class="is-far">[{html.escape(f"{alt}: {where}")}]</span>'

    def table_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        return '<div class="data-table"><table>\n'

    def table_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        return "</table></div>\n"


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Writer)
    reader.enable(["table", "strikethrough"])
    reader.disable(["html_block", "html_inline"])
    reader.validateLink = lambda url: _WEB.match(url) is not None  # pyright: ignore[reportAttributeAccessIssue]
    reader.core.ruler.push("ours", lambda state: _finish(state.tokens))
    return reader


def _finish(tokens: list[Token]) -> None:
    """Directions, boxes for tasks, columns by their class (a style would need another policy), safe links."""
    for at, token in enumerate(tokens):
        if token.type in _WRITTEN:
            token.attrSet("dir", "auto")
        if token.type in ("th_open", "td_open") and token.attrs.pop("style", "") == "text-align:right":
            token.attrSet("align", "right")
        if token.type != "inline":
            continue
        for child in token.children or []:
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
        if at > 1 and tokens[at - 2].type == "list_item_open":
            _tick(token, tokens[at - 2])


def _tick(words: Token, item: Token) -> None:
    first = (words.children or [None])[0]
    mark = _TASK.match(first.content) if first is not None and first.type == "text" else None
    if first is None or mark is None:
        return
    first.content = ("☐ " if mark[1] == " " else "☑ ") + first.content[mark.end() :]
    item.attrSet("class", "task")


def _diff(text: str) -> str:
    kinds = {"+": "hljs-addition", "-": "hljs-deletion", "@": "hljs-meta"}
    rows = (
        f'<span class="{kinds[row[0]]}">{html.escape(row)}</span>' if row[:1] in kinds else html.escape(row)
        for row in text.split("\n")
    )
    return "\n".join(rows)
