"""The command that asks a device on which TCP addresses the processes of a session's agent listen."""

from msgspec import Struct

from bascule.model.commands import Answer, SessionCommand


class Listener(Struct, frozen=True, rename="camel", kw_only=True):
    """One TCP address on which a process of a session listens. Bascule never connects to it."""

    address: str  # "127.0.0.1", "::"
    port: int
    loopback: bool  # only programs on the same machine reach it
    pid: int
    process: str = ""  # its name, as the process itself gives it


class Listening(Answer, frozen=True, omit_defaults=False, kw_only=True):
    """What was found when somebody asked. Nothing is stored, and nothing is looked for in between."""

    running: bool  # the session has a process now
    listeners: tuple[Listener, ...] = ()
    cut: bool = False  # there are more listeners or processes than are looked at
    shared: bool = False  # the agent's process serves other sessions as well: it may listen for one of them
    unseen: int = 0  # processes of the session that the system does not let Bascule look into


class FindListeners(SessionCommand[Listening], frozen=True, kw_only=True):
    """Look once which TCP addresses this session's agent and all that it started listen on."""


ListeningCommand = FindListeners
