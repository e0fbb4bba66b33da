"""Every setting, with its default. Values come from the config file, then the environment, then flags."""

from typing import Literal

from msgspec import Struct


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """What bounds a session. 0 switches a time or size limit off."""

    spawns_per_minute: int = 5  # by one client
    inputs_per_minute: int = 60  # into one session
    sessions: int = 3  # running at once on one device
    session_seconds: int = 4 * 3600
    idle_seconds: int = 30 * 60
    output_bytes: int = 100 * 1024 * 1024
    permission_seconds: int = 24 * 3600  # then exactly one deny is sent
    question_seconds: int = 24 * 3600
    prompt_chars: int = 1_048_576
    start_seconds: int = 30  # for the agent process to exist, and then to speak its protocol
    quiet_seconds: int = 30  # without a word in a turn, then that is told, once


class TerminalSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What bounds a terminal. 0 switches a time limit off."""

    tape_bytes: int = 8 * 1024 * 1024  # of one terminal's output that are kept
    shelf_bytes: int = 512 * 1024 * 1024  # of all ended terminals together
    size_owner: Literal["smallest", "typing"] = "smallest"  # whose window decides the size
    silent_seconds: int = 30  # without a first byte, then it is stopped
    session_seconds: int = 0
    idle_seconds: int = 0


class AcpSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What bounds an agent that speaks ACP. 0 switches a limit off."""

    start_timeout_ms: int = 15_000  # for the agent to answer the first words
    prompt_timeout_ms: int = 30_000  # of silence while it works on a prompt and nobody else is awaited


class Settings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    data_dir: str
    config_dir: str
    host: str = "127.0.0.1"
    port: int = 3333
    tls_cert: str | None = None
    tls_key: str | None = None
    insecure_bind: bool = False  # a person said that a non-loopback address without TLS is fine
    allowed_hosts: tuple[str, ...] = ()  # exact Host values besides the loopback ones
    allowed_origins: tuple[str, ...] = ()  # exact Origin values besides our own
    roots: tuple[str, ...] = ()  # sessions may run only below these; empty: the home folder
    device_name: str = ""  # empty: the machine's host name
    default_agent: str = ""  # empty: the first installed one, else the demo
    default_model: str = ""
    claude_bin: str = ""
    find_sessions: bool = True  # list what agents keep on this machine of sessions begun outside Bascule
    # By agent: names of variables that it is given besides those its file lists, such as a provider's key.
    pass_on: dict[str, tuple[str, ...]] = {}
    limits: Limits = Limits()
    terminal: TerminalSettings = TerminalSettings()
    acp: AcpSettings = AcpSettings()
