"""Exports a session's transcript as Markdown, HTML or JSON, page by page."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Literal

import msgspec

from bascule.hub.export.export_blocks import Block, Section, section_of
from bascule.hub.export.export_secrets import hide_in, keeps_secrets
from bascule.hub.export.export_words import facts, one_line
from bascule.hub.services import Hub
from bascule.hub.views import session_view
from bascule.hub.wire.response import Response, StreamedResponse
from bascule.model.codec import encode
from bascule.model.entries import AnyEntry
from bascule.model.records import SessionRecord

Format = Literal["markdown", "html", "json"]
PAGE = 100
ENDINGS = {"markdown": "md", "html": "html", "json": "json"}
TYPES = {
    "markdown": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
}
# A file is opened from a disk or, if somebody asks for that, here: it runs nothing and loads nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_decoder = msgspec.json.Decoder[AnyEntry](AnyEntry)


def export_answer(
    hub: Hub, record: SessionRecord, form: Format, *, show: bool = False, keep: bool = False
) -> Response:
    parts = {"markdown": _markdown, "html": _html, "json": _json}[form]
    disposition = "inline" if show else "attachment"
    return StreamedResponse(
        _written(parts(hub, record), keep),
        headers={
            "content-disposition": f'{disposition}; filename="{file_name(record, form)}"',
            "content-security-policy": f"{POLICY}; sandbox",
        },
        media_type=TYPES[form],
    )


async def _written(parts: AsyncIterator[bytes], keep: bool) -> AsyncIterator[bytes]:
    keeps_secrets.set(keep)
    async for part in parts:
        yield part


def file_name(record: SessionRecord, form: Format) -> str:
    """Letters, digits and dashes only: it goes into a header and onto anybody's disk."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", record.title).strip("-")[:60]
    return f"{words or 'session'}-{re.sub('[^A-Za-z0-9]', '', record.session_id)[:16]}.{ENDINGS[form]}"


async def _pages(hub: Hub, record: SessionRecord) -> AsyncIterator[list[bytes]]:
    """The whole transcript, oldest first, one page in memory at a time."""
    after: int | None = 0
    while after is not None:
        page = await hub.store.page(record.session_id, PAGE, after=after)
        yield page.entries
        after = page.after


# Markdown


async def _markdown(hub: Hub, record: SessionRecord) -> AsyncIterator[bytes]:
    yield f"# {one_line(record.title or record.session_id)}\n\n{facts(record)}\n".encode()
    async for entries in _pages(hub, record):
        yield "".join(_markdown_of(section_of(_decoder.decode(entry))) for entry in entries).encode()


def _markdown_of(section: Section) -> str:
    if not section.blocks:
        return ""
    text = f"\n## {_escaped(section.heading)}\n\n" if section.heading else "\n"
    return text + "\n\n".join(_markdown_block(block) for block in section.blocks) + "\n"


def _markdown_block(block: Block) -> str:
    match block.look:
        case "prose":
            return block.text  # the agent writes Markdown itself
        case "note":
            return f"*{_escaped(one_line(block.text))}*"
        case "code":
            longest = max((len(run) for run in re.findall("`+", block.text)), default=0)
            fence = "`" * max(3, longest + 1)
            return f"{fence}\n{block.text}\n{fence}"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|!])", r"\\\1", text)


# HTML


async def _html(hub: Hub, record: SessionRecord) -> AsyncIterator[bytes]:
    # Drawing takes its time: other requests are answered meanwhile.
    from bascule.hub.export.export_html import CLOSING, HtmlTranscript, opening  # noqa: PLC0415 - slow to load

    transcript = HtmlTranscript(record)
    yield opening(record).encode()
    async for entries in _pages(hub, record):
        decoded = [_decoder.decode(entry) for entry in entries]
        yield (await asyncio.to_thread(transcript.part, decoded)).encode()
    yield CLOSING.encode()


# JSON


async def _json(hub: Hub, record: SessionRecord) -> AsyncIterator[bytes]:
    session = hide_in(msgspec.json.decode(encode(session_view(record))))
    yield b'{"session":' + encode(session) + b',"entries":['
    first = True
    async for entries in _pages(hub, record):
        for entry in entries:
            yield (b"\n" if first else b",\n") + encode(hide_in(msgspec.json.decode(entry)))
            first = False
    yield b"\n]}\n"
