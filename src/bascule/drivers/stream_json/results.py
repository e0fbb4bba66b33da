"""Reads a `tool_result`: the call's status, output, diffs and images."""

from bascule.drivers.lenient import JsonObject, clip, mapping, objects, text, whole
from bascule.drivers.stream_json.tools import diffs_in, locations_in
from bascule.model.events import Image, ToolChanged, ToolStatus

MAX_OUTPUT = 1024 * 1024
MAX_IMAGES = 20

_STOPPED_RUNNING = "this call was stopped while running"


def change_by(
    tool_id: str, content: object, is_error: object, outcome: JsonObject, meta: JsonObject
) -> ToolChanged:
    """`content` is for the model, `outcome` the structured result beside it, `meta` how it was decided."""
    if isinstance(content, str):  # as nearly all are
        output, images = content, ()
    else:
        output, images = _texts(_blocks(content)), _images(content)
    status = _status(output, is_error, meta)
    if not outcome:
        return ToolChanged(tool_id, status, clip(output, MAX_OUTPUT), (), (), images)
    return ToolChanged(
        tool_id,
        status,
        clip(_report(outcome) or output, MAX_OUTPUT),
        diffs_in(outcome) if status == "done" else (),
        locations_in(outcome),
        images,
    )


def _status(output: str, is_error: object, meta: JsonObject) -> ToolStatus:
    if meta and text(mapping(meta, "permission_decision"), "decision") == "reject":
        return "denied"
    # The agent marks a call it stopped halfway like one that never ran. Only the text tells them apart, and a
    # call that ran must not be shown as one that did not.
    if _STOPPED_RUNNING in output:
        return "failed"
    if meta and text(meta, "non_execution_kind") in ("user-rejected", "permission-rule"):
        return "denied"
    return "failed" if is_error is True else "done"


def _report(outcome: JsonObject) -> str:
    """A sub-agent's report, without the frame the model reads it in."""
    if text(outcome, "agentId") is None:
        return ""
    blocks = objects(outcome, "content")
    notes, tail = whole(outcome, "harnessNoteCount") or 0, whole(outcome, "harnessTailCount") or 0
    return _texts(blocks[notes : len(blocks) - tail])


def _blocks(content: object) -> list[JsonObject]:
    return objects({"": content}, "")


def _texts(blocks: list[JsonObject]) -> str:
    said = [text(block, "text") for block in blocks if text(block, "type") == "text"]
    return "\n".join(part for part in said if part is not None)


def _images(content: object) -> tuple[Image, ...]:
    found: list[Image] = []
    for block in _blocks(content):
        source = mapping(block, "source")
        media_type, data = text(source, "media_type"), text(source, "data")
        if text(block, "type") == "image" and media_type is not None and data is not None:
            found.append(Image(media_type, data))
    return tuple(found[:MAX_IMAGES])
