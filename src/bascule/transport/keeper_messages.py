"""The keeper's replies and notices, as structs."""

import msgspec


class Hello(msgspec.Struct, frozen=True):
    pid: int
    started: int
    boot: str
    protocol: int
    version: str


class Spawned(msgspec.Struct, frozen=True):
    """Identity of the agent's process: the pid alone may come to mean another."""

    pid: int
    started: int
    boot: str


class PtySize(msgspec.Struct, frozen=True):
    cols: int
    rows: int


class Cage(msgspec.Struct, frozen=True):
    """What a process may reach. A rule is letters (r read, w write, x run, i device control) and a path, with
    "." for the working folder; None when the program makes its own walls. `ports`: TCP ports it may connect
    to, listening on none; None leaves TCP alone."""

    rules: tuple[tuple[str, str], ...] | None = ()
    ports: tuple[int, ...] | None = None


class ExitStatus(msgspec.Struct, frozen=True):
    """`lost`: an earlier keeper died with the agent, nobody knows how it ended."""

    code: int | None
    signal: int | None
    lost: bool = False


class SessionState(msgspec.Struct, frozen=True):
    session: str
    pid: int | None
    started: int | None
    boot: str | None
    pty: bool
    out_end: int
    err_end: int
    out_base: int
    err_base: int
    exit: ExitStatus | None
    stdin_open: bool
    pending_writes: int
    spawn_id: str | None


class About(msgspec.Struct, frozen=True):
    """What was started, as the keeper knows it. `label` is ours and comes back as it went."""

    argv: tuple[str, ...] = ()
    cwd: str = ""
    label: str = ""
    at: float = 0.0


class OutputNotice(msgspec.Struct, frozen=True, tag_field="notice", tag="output"):
    """The spools now end here."""

    session: str
    out: int
    err: int


class ExitNotice(msgspec.Struct, frozen=True, tag_field="notice", tag="exit"):
    """The agent has ended and its spools end here."""

    session: str
    code: int | None
    signal: int | None
    out: int
    err: int
    lost: bool = False


class StorageNotice(msgspec.Struct, frozen=True, tag_field="notice", tag="storage"):
    """The spool cannot be written (`ENOSPC`...); the agent waits until it can, then `error` is None."""

    session: str
    error: str | None


Notice = OutputNotice | ExitNotice | StorageNotice
