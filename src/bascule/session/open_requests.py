"""Tracks which requests are open within one step, before the ledger has folded it."""

from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
)
from bascule.model.session_fold import CHANGES_REQUESTS
from bascule.session.ledger import Ledger


class OpenRequests:
    def __init__(self, ledger: Ledger) -> None:
        self._known = ledger.requests
        waiting = ledger.open_requests()
        self._open = {one.request_id: one.kind for one in waiting}
        self._tools = {one.request_id: one.tool_id for one in waiting}

    def follow(self, event: AnyEvent) -> bool:
        """Take one more event into account; False when it says nothing new and is better left out."""
        if type(event) not in CHANGES_REQUESTS:
            return True
        match event:
            case PermissionRequested() | QuestionAsked():
                if event.request_id in self._known or event.request_id in self._open:
                    return False
                kind = "permission" if isinstance(event, PermissionRequested) else "question"
                self._open[event.request_id] = kind
                self._tools[event.request_id] = event.tool_id
                return True
            case PermissionAnswered() | QuestionAnswered() | PermissionWithdrawn() | QuestionWithdrawn():
                # An agent may take back what was answered a moment ago; the answer stands.
                return self._open.pop(event.request_id, None) is not None
            case _:
                return True

    def withdraw_of(self, tool_id: str) -> list[AnyEvent]:
        """A tool that is over needs no permission any more, even if the agent did not say so."""
        moot = [one for one in self._open if self._tools.get(one) == tool_id]
        return [self._withdraw(one, "agent") for one in moot]

    def withdraw_all(self, reason: str) -> list[AnyEvent]:
        return [self._withdraw(one, reason) for one in list(self._open)]

    def _withdraw(self, request_id: str, reason: str) -> AnyEvent:
        kind = self._open.pop(request_id)
        gone = PermissionWithdrawn if kind == "permission" else QuestionWithdrawn
        return gone(request_id, reason)
