"""The keeper's operations: one function per request type, and the table of them."""

import errno
import os
from collections.abc import Callable

from bascule.keeper.cage import cage_of
from bascule.keeper.client_connection import ClientConnection, describe_exit
from bascule.keeper.frames import FrameError, Message
from bascule.keeper.leftover import Leftover
from bascule.keeper.request_checks import (
    Refused,
    label_of,
    seconds,
    session_of,
    signal_of,
    size_of,
    spawn_of,
    text,
    whole,
)
from bascule.keeper.server import Keeper
from bascule.keeper.session import Session
from bascule.keeper.sweep import signal_group

PROTOCOL = 1
VERSION = "1"


def handle(keeper: Keeper, client: ClientConnection, message: Message, blob: bytes) -> None:
    """Answer one request; whatever goes wrong becomes an error reply, never the end of the keeper."""
    number = message.get("id")
    if not isinstance(number, int):
        raise FrameError("request without an id")
    try:
        operation = message.get("op")
        if operation == "write":
            _write(keeper, client, number, message, blob)
            return
        if operation == "typed":
            _typed(keeper, client, number, message, blob)
            return
        act = _OPERATIONS.get(operation) if isinstance(operation, str) else None
        if act is None:
            raise Refused("unknown_op", "no such operation")
        answer = act(keeper, client, message)
    except Refused as refusal:
        client.reply({"id": number, "error": refusal.code, "message": str(refusal)})
    except OSError as error:
        code = errno.errorcode.get(error.errno or 0, "EIO")
        client.reply({"id": number, "error": code, "message": str(error.strerror)})
    else:
        client.reply({"id": number, "ok": answer})


def _hello(keeper: Keeper, _client: ClientConnection, _message: Message) -> Message:
    who = {"pid": os.getpid(), "started": keeper.started, "boot": keeper.boot}
    return {**who, "protocol": PROTOCOL, "version": VERSION}


def _spawn(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    session = keeper.spawn(spawn_of(message))
    return {"pid": session.leader.pid, "started": session.leader.started, "boot": keeper.boot}


def _spawn_caged(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    """An operation of its own: a keeper that is older than cages must refuse it, not start it without."""
    session = keeper.spawn(spawn_of(message)._replace(cage=cage_of(message)))
    return {"pid": session.leader.pid, "started": session.leader.started, "boot": keeper.boot}


def _write(keeper: Keeper, client: ClientConnection, number: int, message: Message, blob: bytes) -> None:
    """`typed`: how many bytes at the front of the blob the server wrote itself since its last report."""
    session = _running(keeper, message)
    stdin, typed = session.stdin, whole(message, "typed", 0)
    reply = client.reply_after_output if session.is_terminal else client.reply

    def done(refusal: Refused | None) -> None:
        if refusal:
            client.reply({"id": number, "error": refusal.code, "message": str(refusal)})
        else:
            reply({"id": number, "ok": _room(session)})

    stdin.saw(blob[:typed])
    stdin.write(text(message, "write_id", 128), blob[typed:], done)


def _typed(keeper: Keeper, client: ClientConnection, number: int, message: Message, blob: bytes) -> None:
    """The server wrote these keys itself. It says so now and then: the line's length, the echo's priority."""
    session = _running(keeper, message)
    session.stdin.saw(blob)
    client.reply_after_output({"id": number, "ok": _room(session)})


def _room(session: Session) -> Message:
    room = session.stdin.room
    return {} if room is None else {"room": room}


def _lend(keeper: Keeper, client: ClientConnection, message: Message) -> Message:
    """Replies by itself, with the descriptor; what is returned here is sent to nobody."""
    answer: Message = {"id": message["id"], "ok": {}}
    _running(keeper, message).stdin.lend(lambda fd: client.lend(answer, fd))
    return {}


def _close_stdin(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    _running(keeper, message).stdin.close_when_written()
    return {}


def _resize(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    _running(keeper, message).resize(size_of(message))
    return {}


def _signal(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    session, number = _running(keeper, message), signal_of(message)
    if not session.alive or not signal_group(session.leader.pid, number):
        raise Refused("ended", "the agent has ended")
    return {}


def _end(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    grace_stdin, grace_term = seconds(message, "grace_stdin", 2.0), seconds(message, "grace_term", 5.0)
    session = _any(keeper, message)
    if isinstance(session, Session):
        keeper.end(session, grace_stdin, grace_term)
    return {}


def _position(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    session = _any(keeper, message)
    out, err = whole(message, "out"), whole(message, "err", 0)
    session.advance((out, err), (whole(message, "trim_out", 0), whole(message, "trim_err", 0)))
    return {}


def _list(keeper: Keeper, _client: ClientConnection, _message: Message) -> Message:
    return {"sessions": [_describe(keeper, session) for session in keeper.sessions.values()]}


def _describe(keeper: Keeper, session: Session | Leftover) -> Message:
    facts: Message = {"session": session.id, "pid": None, "started": None, "boot": None, "pty": False}
    facts |= {"stdin_open": False, "pending_writes": 0, "spawn_id": None}
    if isinstance(session, Session):
        facts |= {"pid": session.leader.pid, "started": session.leader.started, "boot": keeper.boot}
        facts |= {"pty": session.is_terminal, "spawn_id": session.spawn_id}
        facts |= {"stdin_open": session.stdin.open, "pending_writes": session.stdin.pending}
    facts["out_end"], facts["err_end"] = session.ends
    facts["out_base"], facts["err_base"] = session.bases
    facts["exit"] = describe_exit(session.exit) if session.exit else None
    return facts


def _about(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    about = _any(keeper, message).about
    return {"argv": about.argv, "cwd": about.cwd, "label": about.label, "at": about.at}


def _label(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    _running(keeper, message).relabel(label_of(message))
    return {}


def _written(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    session = _any(keeper, message)
    write_id = text(message, "write_id", 128)
    return {"written": isinstance(session, Session) and session.stdin.has_written(write_id)}


def _unread(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    return {"unread": _running(keeper, message).stdin.unread}


def _forget(keeper: Keeper, _client: ClientConnection, message: Message) -> Message:
    keeper.forget(_any(keeper, message))
    return {}


def _watch(keeper: Keeper, client: ClientConnection, _message: Message) -> Message:
    client.watch(keeper.sessions.values())
    return {}


def _any(keeper: Keeper, message: Message) -> Session | Leftover:
    session = keeper.sessions.get(session_of(message))
    if session is None:
        raise Refused("unknown_session", f"no session {message['session']}")
    return session


def _running(keeper: Keeper, message: Message) -> Session:
    session = _any(keeper, message)
    if isinstance(session, Leftover):
        raise Refused("ended", "the agent was lost with an earlier keeper")
    return session


_OPERATIONS: dict[str, Callable[[Keeper, ClientConnection, Message], Message]] = {
    "hello": _hello,
    "spawn": _spawn,
    "spawn_caged": _spawn_caged,
    "close_stdin": _close_stdin,
    "lend": _lend,
    "resize": _resize,
    "signal": _signal,
    "end": _end,
    "position": _position,
    "list": _list,
    "about": _about,
    "label": _label,
    "written": _written,
    "unread": _unread,
    "forget": _forget,
    "watch": _watch,
}
