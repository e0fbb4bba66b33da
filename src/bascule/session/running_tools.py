"""The tool calls that run now, counted once for everybody who asks: patience, and the guard rails."""

from collections.abc import Iterable

from bascule.model.events import AnyEvent, ToolChanged, ToolStarted, TurnEnded

CHANGES_TOOLS: frozenset[type[AnyEvent]] = frozenset({ToolStarted, ToolChanged, TurnEnded})
MAX_RUNNING = 256  # more than an agent ever runs at once

EndedCall = tuple[ToolStarted, ToolChanged]  # and its outcome


class RunningTools:
    def __init__(self) -> None:
        self.calls: dict[str, ToolStarted] = {}

    def heard(self, events: Iterable[AnyEvent]) -> list[EndedCall]:
        """Take note of calls that began and ended. Returns those that ended."""
        calls, ended = self.calls, list[EndedCall]()
        for event in events:
            if type(event) is ToolStarted:  # the class itself: `isinstance` takes ten times as long to say no
                calls[event.tool_id] = event
                if len(calls) > MAX_RUNNING:
                    del calls[next(iter(calls))]
            elif type(event) is ToolChanged:
                started = None if event.status == "running" else calls.pop(event.tool_id, None)
                if started is not None:
                    ended.append((started, event))
            elif type(event) is TurnEnded:
                calls.clear()
        return ended
