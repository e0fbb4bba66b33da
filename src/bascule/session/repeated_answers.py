"""The same answer again by the same grant is a success: its first reply may have been lost on the way."""

import hashlib

from bascule.model.codec import encode
from bascule.model.commands import Actor, AnswerPermission, AnswerQuestion, Done
from bascule.model.records import RequestRecord
from bascule.store.base import StoredReply
from bascule.store.protocols import DaemonStore

AnyAnswer = AnswerPermission | AnswerQuestion


def reply_to(command: AnyAnswer, by: Actor, request: RequestRecord) -> StoredReply | None:
    """To be stored with the answer, so that `is_repeated` knows it. None for what no grant stands behind."""
    if not by.grant_id:
        return None
    return StoredReply(_key(command, by, request), "", encode(Done()))


async def is_repeated(
    store: DaemonStore, command: AnyAnswer, by: Actor, request: RequestRecord | None
) -> bool:
    """Whether this request was answered by the same grant, and with the same decision."""
    if request is None or not by.grant_id:
        return False
    return await store.stored_reply(_key(command, by, request)) is not None


def _key(command: AnyAnswer, by: Actor, request: RequestRecord) -> str:
    # An agent may use the id of a request again; its number in the log is its own.
    return f"answer:{request.session_id}:{request.seq}:{by.grant_id}:{_decision(command)}"


def _decision(command: AnyAnswer) -> str:
    match command:
        case AnswerPermission():
            decided: tuple[object, ...] = (command.decision, command.option, command.remember)
        case AnswerQuestion():
            answers, notes = sorted(command.answers.items()), sorted(command.notes.items())
            decided = (answers, notes, None if command.answers else command.message)
    return hashlib.sha256(encode(decided)).hexdigest()
