"""Exports a session's transcript as Markdown, HTML or JSON, page by page."""

import base64
import binascii
import html
import re
from collections.abc import AsyncIterator
from typing import Any, Literal, cast

import msgspec
from starlette.responses import Response, StreamingResponse

from bascule.hub.api.export_blocks import Block, Section, section_of
from bascule.hub.api.views import session_view
from bascule.hub.services import Hub
from bascule.model.codec import encode
from bascule.model.entries import AnyEntry
from bascule.model.events import Image
from bascule.model.records import SessionRecord
from bascule.policy.redact import redact
from bascule.policy.visible import visible

Format = Literal["markdown", "html", "json"]
PAGE = 100
ENDINGS = {"markdown": "md", "html": "html", "json": "json"}
TYPES = {
    "markdown": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
STYLE = (
    "body{font:16px/1.55 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "section{margin:1.5rem 0}h2{font-size:1rem;margin:0}time{color:#666;font-size:.8rem}"
    "pre,.prose{white-space:pre-wrap;overflow-wrap:anywhere}"
    "pre{background:#f3f3f7;padding:.7rem;border-radius:6px;font-size:.85rem}"
    ".note{color:#666;font-size:.9rem}.prompt{border-left:3px solid #2e5cb8;padding-left:1rem}"
    "img{max-width:100%}"
)
_decoder = msgspec.json.Decoder[AnyEntry](AnyEntry)


def export_answer(hub: Hub, record: SessionRecord, form: Format) -> Response:
    parts = {"markdown": _markdown, "html": _html, "json": _json}[form]
    return StreamingResponse(
        parts(hub, record),
        headers={
            "content-disposition": f'attachment; filename="{file_name(record, form)}"',
            "content-security-policy": f"{POLICY}; sandbox",
        },
        media_type=TYPES[form],
    )


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
    yield f"# {_one_line(record.title or record.session_id)}\n\n{_facts(record)}\n".encode()
    async for entries in _pages(hub, record):
        yield "".join(_markdown_of(section_of(_decoder.decode(entry))) for entry in entries).encode()


def _markdown_of(section: Section) -> str:
    text = f"\n## {_escaped(section.heading)}\n\n" if section.heading else "\n"
    return text + "\n\n".join(_markdown_block(block) for block in section.blocks) + "\n"


def _markdown_block(block: Block) -> str:
    match block.look:
        case "prose":
            return block.text  # the agent writes Markdown itself
        case "note":
            return f"*{_escaped(_one_line(block.text))}*"
        case "code":
            longest = max((len(run) for run in re.findall("`+", block.text)), default=0)
            fence = "`" * max(3, longest + 1)
            return f"{fence}\n{block.text}\n{fence}"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|!])", r"\\\1", text)


# HTML


async def _html(hub: Hub, record: SessionRecord) -> AsyncIterator[bytes]:
    title = html.escape(visible(redact(record.title or record.session_id)))
    policy = html.escape(POLICY)
    yield (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>\n"
        f"<h1>{title}</h1><p>{html.escape(_facts(record))}</p>\n"
    ).encode()
    async for entries in _pages(hub, record):
        yield "".join(_html_of(section_of(_decoder.decode(entry))) for entry in entries).encode()
    yield b"</body></html>\n"


def _html_of(section: Section) -> str:
    heading = f"<h2>{html.escape(section.heading)}</h2>" if section.heading else ""
    blocks = "".join(_html_block(block) for block in section.blocks)
    images = "".join(_picture(image) for image in section.images)
    kind, at = html.escape(section.kind), html.escape(section.at)
    return f'<section class="{kind}">{heading}<time>{at}</time>{blocks}{images}</section>\n'


def _html_block(block: Block) -> str:
    text = html.escape(block.text)
    return f"<pre>{text}</pre>" if block.look == "code" else f'<div class="{block.look}">{text}</div>'


def _picture(image: Image) -> str:
    try:
        base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        return ""
    return f'<img alt="" src="data:{image.media_type};base64,{image.data}">'


# JSON


async def _json(hub: Hub, record: SessionRecord) -> AsyncIterator[bytes]:
    session = _clean(msgspec.json.decode(encode(session_view(record))))
    yield b'{"session":' + encode(session) + b',"entries":['
    first = True
    async for entries in _pages(hub, record):
        for entry in entries:
            yield (b"\n" if first else b",\n") + encode(_clean(msgspec.json.decode(entry)))
            first = False
    yield b"\n]}\n"


def _clean(value: Any) -> Any:
    """The same value with secrets out of every string in it. Only JSON comes in, so it is never deep."""
    match value:
        case str():
            return redact(value)
        case list():
            return [_clean(one) for one in cast("list[Any]", value)]
        case dict():
            return {redact(str(key)): _clean(one) for key, one in cast("dict[Any, Any]", value).items()}
        case _:
            return value


# What the beginning says


def _facts(record: SessionRecord) -> str:
    words = f"{record.agent} in {record.cwd}, begun {record.created_at} by {record.created_by}"
    return visible(redact(_one_line(words)))


def _one_line(text: str) -> str:
    return " ".join(visible(redact(text)).split())
