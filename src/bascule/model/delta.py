"""Quill Deltas: a document's plain text, and the same as Markdown. Pure; its twin is `js/delta.js`.

Text that a person typed is not escaped: what stands in an editor as Markdown is Markdown for the agent too.
So both forms of a document without formatting are the same.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, cast

from msgspec import Struct

from bascule.model.errors import InvalidInput

Attributes = dict[str, Any]

_NO_DOCUMENT = 'This is not a Quill document. It must be {"ops": [...]}, or the list of ops alone.'
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,40}")
_TICKS = re.compile(r"`+")
_BRACKETS = re.compile(r"[\[\]]")
_ODD_ADDRESS = re.compile(r"[ ()<>]")
_BLANKS = " \t\u00a0"
# From the outside in. A link has its address for a mark, the others True.
_MARKS = ("link", "bold", "italic", "strike", "code")
_SIGNS = {"bold": "**", "italic": "*", "strike": "~~"}


class _Piece(Struct):
    """A run of text, or an embed as Markdown, with what is formatted in it."""

    text: str
    marks: tuple[str | bool | None, ...]
    embed: bool = False


class _Line(Struct):
    pieces: list[_Piece]
    kind: str  # text, header, list, quote, code, table, rule
    value: str | int  # of a header its level, of a list its sort, of code its language, of a table its row
    indent: int = 0
    ended: bool = True


def delta_to_text(delta: object) -> str:
    """All text as it is, `[Image]` for an image, and nothing for other embeds."""
    return "".join(_text_of(insert) for insert, _ in _inserts(delta))


def delta_to_markdown(delta: object) -> str:
    """Headings, lists, quotes, code, tables, links and emphasis as Markdown; other formatting is left out."""
    written: list[tuple[str, str]] = []  # kind, text
    lines, numbers = list(_lines(delta)), _ListNumbers()
    for (kind, value), group in groupby(lines, key=_block_of):
        block = list(group)
        numbers.begin(kind)
        match kind:
            case "code":
                written.append((f"code {value}", _fenced(block, str(value))))
            case "table":
                written.append((kind, _table(block)))
            case _:
                item = numbers.item if kind == "list" else _plain_line
                written.extend((kind, item(line)) for line in block)
    return _joined(written) + ("\n" if lines and lines[-1].ended else "")


def _text_of(insert: object) -> str:
    if isinstance(insert, str):
        return insert
    return "[Image]" if _is_set(cast(Attributes, insert).get("image")) else ""


def _is_set(value: object) -> bool:
    return value not in (None, False, "", 0)


# Reading


def _inserts(delta: object) -> Iterator[tuple[object, Attributes]]:
    """Each insert with its attributes. Raises `InvalidInput`."""
    ops = cast(Attributes, delta).get("ops") if isinstance(delta, dict) else delta
    if not isinstance(ops, list):
        raise InvalidInput(_NO_DOCUMENT)
    for number, one in enumerate(cast(list[Any], ops), 1):
        op = cast(Attributes, one) if isinstance(one, dict) else {}
        found = op.get("insert")
        if not isinstance(found, str | dict):
            message = f"This is not a Quill document: op {number} is not an insert."
            raise InvalidInput(message)
        attributes = op.get("attributes")
        yield found, cast(Attributes, attributes) if isinstance(attributes, dict) else {}


def _lines(delta: object) -> Iterator[_Line]:
    """A newline ends a line, and its attributes say what the line is."""
    pieces: list[_Piece] = []
    for insert, attributes in _inserts(delta):
        if isinstance(insert, str):
            first, *others = insert.split("\n")
            pieces.append(_Piece(first, _marks_of(attributes)))
            for text in others:
                yield _line(pieces, attributes)
                pieces = [_Piece(text, _marks_of(attributes))]
        elif (embed := cast(Attributes, insert)).keys() & {"video", "divider", "hr"}:
            if any(piece.text for piece in pieces):
                yield _line(pieces, {})
            yield _block_embed(embed)
            pieces = []
        else:
            pieces.append(_Piece(_embed(embed, attributes), _marks_of(attributes), embed=True))
    if any(piece.text for piece in pieces):
        last = _line(pieces, {})
        last.ended = False
        yield last


def _line(pieces: list[_Piece], block: Attributes) -> _Line:
    code = block.get("code-block")
    if _is_set(code):
        language = code if isinstance(code, str) and code != "plain" and _LANGUAGE.fullmatch(code) else ""
        return _Line(pieces, "code", language)
    header, sort, row, indent = (block.get(name) for name in ("header", "list", "table", "indent"))
    if isinstance(header, int) and not isinstance(header, bool) and 1 <= header <= 6:
        return _Line(pieces, "header", header)
    if sort in ("ordered", "bullet", "checked", "unchecked"):
        depth = indent if isinstance(indent, int) and not isinstance(indent, bool) and 0 < indent < 10 else 0
        return _Line(pieces, "list", cast(str, sort), depth)
    if _is_set(block.get("blockquote")):
        return _Line(pieces, "quote", "")
    return _Line(pieces, "table", row) if isinstance(row, str) else _Line(pieces, "text", "")


def _marks_of(attributes: Attributes) -> tuple[str | bool | None, ...]:
    link = attributes.get("link")
    address = link if isinstance(link, str) and link and "\n" not in link else None
    return (address, *(True if _is_set(attributes.get(name)) else None for name in _MARKS[1:]))


def _embed(embed: Attributes, attributes: Attributes) -> str:
    """An embed inside a line. One whose meaning is unknown is left out."""
    image, formula, mention = (embed.get(name) for name in ("image", "formula", "mention"))
    if _is_set(image):
        alt = attributes.get("alt")
        name = _in_brackets(alt) if isinstance(alt, str) and alt else "Image"
        shown = isinstance(image, str) and not image.startswith("data:") and "\n" not in image
        return f"![{name}]({_address(str(image))})" if shown else f"[{name}]"
    if isinstance(formula, str):
        return f"${formula}$"
    if isinstance(mention, dict) and isinstance(cast(Attributes, mention).get("value"), str):
        sign = cast(Attributes, mention).get("denotationChar")
        return (sign if isinstance(sign, str) else "") + cast(Attributes, mention)["value"]
    return ""


def _block_embed(embed: Attributes) -> _Line:
    video = embed.get("video")
    if "video" not in embed:
        return _Line([_Piece("---", (None,) * len(_MARKS))], "rule", "")
    shown = f"[Video]({_address(video)})" if isinstance(video, str) and "\n" not in video else "[Video]"
    return _Line([_Piece(shown, (None,) * len(_MARKS))], "text", "")


# Writing


def _block_of(line: _Line) -> tuple[str, str | int]:
    """Lines of one block stand together: code of one language, all rows of a table, a list."""
    return line.kind, line.value if line.kind == "code" else ""


class _ListNumbers:
    """Numbers as Quill shows them: a paragraph or a heading starts them again, code or a quote does not."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._parents: list[tuple[int, int]] = []  # indent, width of the marker

    def begin(self, kind: str) -> None:
        self._parents = []
        if kind in ("text", "header"):
            self._counts = {}

    def item(self, line: _Line) -> str:
        depth = line.indent
        self._counts = {at: count for at, count in self._counts.items() if at <= depth}
        self._parents = [parent for parent in self._parents if parent[0] < depth]
        marker = "- "
        if line.value == "ordered":
            self._counts[depth] = self._counts.get(depth, 0) + 1
            marker = f"{self._counts[depth]}. "
        before = " " * sum(width for _, width in self._parents)
        self._parents.append((depth, len(marker)))
        box = {"checked": "[x] ", "unchecked": "[ ] "}.get(str(line.value), "")
        return before + _led(marker + box, _inline(line.pieces))


def _plain_line(line: _Line) -> str:
    text = _inline(line.pieces)
    if line.kind == "header":
        return f"{'#' * int(line.value)} {text}" if text else ""
    return _led("> ", text) if line.kind == "quote" else text


def _led(lead: str, text: str) -> str:
    return lead + text if text else lead.rstrip(" ")


def _fenced(block: list[_Line], language: str) -> str:
    code = "\n".join("".join(piece.text for piece in line.pieces) for line in block)
    fence = "`" * max(3, _longest_ticks(code) + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def _table(block: list[_Line]) -> str:
    rows = [
        [_inline(line.pieces).replace("|", "\\|") for line in row]
        for _, row in groupby(block, key=lambda one: one.value)
    ]
    width = max(len(row) for row in rows)
    first, *others = [row + [""] * (width - len(row)) for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in (first, ["---"] * width, *others))


def _joined(written: list[tuple[str, str]]) -> str:
    """One line break between lines, and an empty line where two kinds meet: Markdown would join them."""
    out: list[str] = []
    before, last = "", ""
    for at, (kind, text) in enumerate(written):
        if at:
            out.append("\n\n" if kind != before and text and last else "\n")
        out.append(text)
        before, last = kind, text
    return "".join(out)


def _inline(pieces: Iterable[_Piece], level: int = 0) -> str:
    """Neighbours with the same mark share its signs; blanks at their edges stay outside."""
    if level == len(_MARKS):
        return "".join(
            _in_brackets(one.text) if one.marks[0] and not one.embed else one.text for one in pieces
        )
    out: list[str] = []
    for mark, group in groupby((piece for piece in pieces if piece.text), key=lambda one: one.marks[level]):
        text = _inline(group, level + 1)
        inner = text.strip(_BLANKS)
        if mark is None or not inner:
            out.append(text)
            continue
        begin = text.index(inner)
        out += [text[:begin], _marked(_MARKS[level], mark, inner), text[begin + len(inner) :]]
    return "".join(out)


def _marked(name: str, mark: str | bool, text: str) -> str:
    if name == "code":
        ticks = "`" * (_longest_ticks(text) + 1)
        gap = " " if text.startswith("`") or text.endswith("`") else ""
        return f"{ticks}{gap}{text}{gap}{ticks}"
    if isinstance(mark, str):
        return text if text == mark else f"[{text}]({_address(mark)})"
    return f"{_SIGNS[name]}{text}{_SIGNS[name]}"


def _address(address: str) -> str:
    if not _ODD_ADDRESS.search(address):
        return address
    return f"<{address.replace('<', '%3C').replace('>', '%3E')}>"


def _in_brackets(text: str) -> str:
    return _BRACKETS.sub(lambda found: f"\\{found[0]}", text)


def _longest_ticks(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
