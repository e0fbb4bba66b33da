"""Makes the API's answers from the hub's records."""

from operator import attrgetter

from msgspec import structs

from bascule.api.grant_answers import GrantView
from bascule.api.request_answers import RequestView, WaitingAnswerView
from bascule.api.session_answers import SessionView
from bascule.model.codec import timestamp
from bascule.model.lifecycle import chat_status
from bascule.model.records import RequestRecord, SessionRecord
from bascule.store.grants import Grant

# A view begins with the fields of its record, but for the one that it declares anew.
_of_record = attrgetter(*(name for name in SessionRecord.__struct_fields__ if name != "model"))


def session_view(record: SessionRecord) -> SessionView:
    """Made for each row of a list, on the loop: by position, which takes a third of the time."""
    return SessionView(
        *_of_record(record),
        model=record.model,
        id=record.session_id,
        status=chat_status(record.phase, record.end_reason),
        created=record.created_at,
        last_active=record.updated_at,
        cli_type=record.agent,
    )


def request_view(request: RequestRecord, title: str, waiting: WaitingAnswerView | None = None) -> RequestView:
    return RequestView(session_title=title, waiting_answer=waiting, **structs.asdict(request))


def grant_view(grant: Grant, open_streams: int = 0) -> GrantView:
    return GrantView(
        id=grant.id,
        name=grant.name,
        role=grant.role,
        session_id=grant.session_id,
        device=grant.device,
        kind=grant.kind,
        created_at=timestamp(grant.created_at),
        expires_at=_moment(grant.expires_at),
        last_used_at=_moment(grant.last_used_at),
        open_streams=open_streams,
    )


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else timestamp(seconds)
