"""Ends turns from `result` messages; handles user messages and system notes."""

from collections.abc import Callable

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import (
    MAX_ID,
    JsonObject,
    as_object,
    clip,
    items,
    mapping,
    number,
    objects,
    text,
    true,
    whole,
    words,
)
from bascule.drivers.stream_json.output_messages import User
from bascule.drivers.stream_json.results import change_by
from bascule.drivers.stream_json.state import MAX_FAILURE, DriverState
from bascule.model.event_values import StopReason, Usage
from bascule.model.events import (
    ModelChanged,
    Note,
    ToolChanged,
    TurnEnded,
    UsageChanged,
)

_STOPS: dict[str, StopReason] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "end_turn",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}
_ECHOED = frozenset({"image", "document"})  # parts of a prompt
_OUTPUT_OPEN, _OUTPUT_CLOSE = "<local-command-stdout>", "</local-command-stdout>"


def end_turn(state: DriverState, out: EventBuffer, result: JsonObject) -> None:
    """A `result` ends the turn. `is_error` tells whether it failed, never `subtype`."""
    for tool_id in [tool_id for tool_id, tool in state.tools.items() if tool.parent is None]:
        del state.tools[tool_id]
        out.put(ToolChanged(tool_id, "failed", "The turn ended before this tool reported back."))
    _count(state, out, result)
    reason = _stop_reason(state, result)
    if reason == "end_turn" and state.info.tried and state.info.tried == state.info.trying:
        state.info.model, state.info.trying = state.info.trying, ""
        out.put(ModelChanged(state.info.model))
    message = _what_went_wrong(result) if reason == "error" else None
    tell_failure(state, out, message)
    usage = mapping(result, "usage")
    out.put(
        TurnEnded(
            reason,
            Usage(
                whole(usage, "input_tokens") or 0,
                whole(usage, "output_tokens") or 0,
                whole(usage, "cache_read_input_tokens") or 0,
                whole(usage, "cache_creation_input_tokens") or 0,
            )
            if usage
            else None,
            number(result, "total_cost_usd"),
            whole(result, "duration_ms"),
            message,
            state.last or None,
        )
    )
    state.interrupted = False


def tell_failure(state: DriverState, out: EventBuffer, already_said: str | None = None) -> None:
    """Note the API error the agent reported, unless the turn's end says the same."""
    if state.failure and state.failure != already_said:
        out.put(Note("api_error", state.failure, "error"))
    state.failure = ""


def _stop_reason(state: DriverState, result: JsonObject) -> StopReason:
    ended = text(result, "terminal_reason") or ""
    if ended.startswith("aborted") or (not ended and state.interrupted):
        return "interrupted"
    if true(result, "is_error"):
        return "error"
    stop = text(result, "stop_reason")
    return "end_turn" if stop is None else _STOPS.get(stop, "other")


def _what_went_wrong(result: JsonObject) -> str | None:
    said = text(result, "result")
    if not said:
        said = "\n".join(error for error in items(result, "errors") if isinstance(error, str))
    return clip(said or text(result, "subtype") or "The agent reported an error.", MAX_FAILURE)


def _count(state: DriverState, out: EventBuffer, result: JsonObject) -> None:
    info = state.info
    size = _context_window(mapping(result, "modelUsage"), info.model) or info.size
    cost = number(result, "total_cost_usd")
    if (size, cost) != (info.size, info.cost_usd):
        info.size, info.cost_usd = size, cost
        out.put(UsageChanged(info.used, size, cost))


def _context_window(by_model: JsonObject, model: str | None) -> int | None:
    known = as_object(by_model.get(model or ""))
    if known:
        return whole(known, "contextWindow")
    sizes = [whole(as_object(usage), "contextWindow") or 0 for usage in by_model.values()]
    return max(sizes, default=0) or None


def hear_user(state: DriverState, out: EventBuffer, said: User, settled: Callable[[str], None]) -> str | None:
    """A `user` message: tool results, echoes of prompts, and texts the agent gives itself.

    Returns what about it was not understood.
    """
    content = said.message.content
    if isinstance(content, str):
        _hear_text(state, out, said, content)
        return None
    why = None
    for block in content:
        if block.type == "tool_result":
            tool_id = block.tool_use_id
            if not tool_id or len(tool_id) > MAX_ID:
                why = "a tool result without the id of its call"
                continue
            state.tools.pop(tool_id, None)
            outcome = {} if said.tool_use_result is None else as_object(said.tool_use_result)
            meta = {} if said.tool_result_meta is None else _meta(said.tool_result_meta, tool_id)
            out.put(change_by(tool_id, block.content, block.is_error, outcome, meta))
            if state.requests:
                settled(tool_id)
        elif block.type == "text":
            _hear_text(state, out, said, block.text or "")
        elif block.type not in _ECHOED:
            why = f"unknown user content {clip(block.type or 'without a type', 80)!r}"
    return why


def _meta(listed: object, tool_id: str) -> JsonObject:
    metas = {text(meta, "id"): meta for meta in objects({"": listed}, "")}
    return metas.get(tool_id) or {}


def _hear_text(state: DriverState, out: EventBuffer, said: User, words_said: str) -> None:
    if words_said.startswith("[Request interrupted by user"):
        state.interrupted = True
    elif words_said.startswith(_OUTPUT_OPEN):
        printed = words_said.removeprefix(_OUTPUT_OPEN).removesuffix(_OUTPUT_CLOSE).strip()
        if printed:
            out.put(Note("command_output", clip(printed, 4096)))
    elif said.synthetic is True and "was cut off mid-stream" in words_said:
        out.put(Note("answer_resumed", "The answer was cut off; the agent goes on from there.", "warning"))
    # Everything else is an echo of a prompt, a sub-agent's instructions (its tool call holds them) or a
    # summary the agent made for itself: not shown again.


def note_retry(out: EventBuffer, said: JsonObject) -> None:
    status, error = whole(said, "error_status"), words(said, "error", 200) or "no reason given"
    wait = (number(said, "retry_delay_ms") or 0) / 1000
    attempt, most = whole(said, "attempt") or 0, whole(said, "max_retries") or 0
    answer = f"answered {status} ({error})" if status else f"failed ({error})"
    out.put(
        Note(
            "api_retry",
            f"The model's API {answer}; trying again in {wait:.1f} s, {attempt} of {most}.",
            "warning",
        )
    )


def note_compaction(state: DriverState, out: EventBuffer, said: JsonObject) -> None:
    about = mapping(said, "compact_metadata")
    before, after = whole(about, "pre_tokens"), whole(about, "post_tokens")
    sizes = f" from {before} to {after} tokens" if before is not None and after is not None else ""
    out.put(Note("compacted", f"The conversation was summarised{sizes}."))
    if after and after != state.info.used:
        state.info.used = after
        out.put(UsageChanged(after, state.info.size, state.info.cost_usd))


def note_hook(out: EventBuffer, said: JsonObject) -> None:
    """Note that a hook ran: a command of a settings file, run without permission."""
    name, status = words(said, "hook_name", 200) or "unnamed", whole(said, "exit_code")
    if text(said, "outcome") == "success":
        out.put(Note("hook", f"The hook {name} of the agent's settings ran."))
    else:
        output = words(said, "stderr", 1000) or words(said, "stdout", 1000)
        out.put(Note("hook_failed", f"The hook {name} failed (status {status}): {output}", "warning"))


def note_rate_limit(out: EventBuffer, said: JsonObject) -> None:
    about = mapping(said, "rate_limit_info")
    status = text(about, "status")
    if status not in (None, "allowed"):
        kind = words(about, "rateLimitType", 80) or "usage"
        level = "error" if status == "rejected" else "warning"
        out.put(Note("rate_limit", f"The account's {kind} limit: {clip(status or '', 80)}.", level))
