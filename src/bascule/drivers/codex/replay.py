"""Replays an earlier conversation as events, from the turns that come with a resumed thread."""

from msgspec import Raw
from msgspec.json import encode

from bascule.drivers.base import DriverLaunch
from bascule.drivers.codex.items import Items
from bascule.drivers.codex.state import DriverState
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import MAX_ID, JsonObject, clip, objects, text, words
from bascule.model.event_values import StopReason
from bascule.model.events import PromptSent, TurnEnded

MAX_PROMPT = 64 * 1024
EARLIER = "earlier"

_STOPS: dict[str, StopReason] = {"completed": "end_turn", "interrupted": "interrupted", "failed": "error"}


def tell(out: EventBuffer, run: str, turns: list[JsonObject]) -> None:
    items = Items(DriverState(DriverLaunch(run=run)), out)
    for number, turn in enumerate(turns):
        for item in objects(turn, "items"):
            if text(item, "type") == "userMessage":
                said = "\n".join(text(part, "text") or "" for part in objects(item, "content"))
                out.put(PromptSent(f"{run}:earlier:{number}", clip(said, MAX_PROMPT), EARLIER))
            elif isinstance(item.get("id"), str) and isinstance(item.get("type"), str):
                items.complete(Raw(encode(item)))
        items.end_all("The turn ended before this tool reported back.")
        reason = _STOPS.get(text(turn, "status") or "", "other")
        out.put(TurnEnded(reason, fork_at=words(turn, "id", MAX_ID) or None))
