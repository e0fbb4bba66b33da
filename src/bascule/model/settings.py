"""Every setting, with its default. Values come from the config file, then the environment, then flags.

The text under a field is its documentation: docs/settings.md is made from it.
"""

from typing import Literal

from msgspec import Struct

from bascule.model.capability import Capability


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of a session. 0 means no limit. The owner can change them while the server runs."""

    spawns_per_minute: int = 5
    """Sessions that one client may start per minute."""
    inputs_per_minute: int = 60
    """Messages that may be sent to one session per minute."""
    sessions: int = 8
    """Agents that may work at once on this machine; idle sessions and terminals do not count."""
    session_seconds: int = 4 * 3600
    """A session ends this long after it started; people are warned 5 minutes before, and can keep it."""
    idle_seconds: int = 30 * 60
    """A session ends after waiting this long for its next message; an open request stops this clock. People
    are warned 5 minutes before, and can keep it."""
    output_bytes: int = 100 * 1024 * 1024
    """A session ends when its agent has written this much output."""
    permission_seconds: int = 24 * 3600
    """A permission request that nobody answers is denied after this long."""
    question_seconds: int = 24 * 3600
    """A question that nobody answers is closed without an answer after this long."""
    prompt_chars: int = 1_048_576
    """Longest prompt or message, in characters."""
    start_seconds: int = 30
    """How long an agent's process may take to start, and then to complete its protocol handshake."""
    session_cents: int = 0
    """US cents that one session may spend, as its agent counts them; at the limit its turn is stopped and the
    owner asked. People are warned at 80 %."""
    session_tokens: int = 0
    """Tokens that one session may spend: input that was not cached, and output."""
    project_cents: int = 0
    """US cents that all sessions in one folder may spend in a calendar month."""
    project_tokens: int = 0
    """Tokens that all sessions in one folder may spend in a calendar month."""
    day_cents: int = 0
    """US cents that all sessions of this machine may spend in a day, by UTC."""
    day_tokens: int = 0
    """Tokens that all sessions of this machine may spend in a day, by UTC."""
    loop_repeats: int = 8
    """A turn in which the same tool call had the same outcome this often is stopped, and people are asked."""
    quiet_seconds: int = 30
    """After this long without output in a turn, the session says once that its agent is silent."""


class TerminalSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of a terminal. 0 switches off a limit in seconds."""

    tape_bytes: int = 8 * 1024 * 1024
    """How much of one terminal's output is kept."""
    shelf_bytes: int = 512 * 1024 * 1024
    """How much output of all ended terminals together is kept."""
    size_owner: Literal["smallest", "typing"] = "smallest"
    """Whose window sets the size: the smallest of all viewers, or that of the viewer who typed last."""
    silent_seconds: int = 30
    """A terminal program that writes nothing for this long after its start is stopped."""
    session_seconds: int = 0
    """A terminal ends this long after it started."""
    idle_seconds: int = 0
    """A terminal ends after this long without input or output."""


class AcpSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of an agent that speaks ACP. 0 switches a limit off."""

    start_timeout_ms: int = 15_000
    """How long an agent may take to answer the `initialize` request."""
    prompt_timeout_ms: int = 30_000
    """How long an agent may be silent in a turn while no person and no tool is awaited."""


class LaunchSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Launches in desktop terminals, and the bridge for web pages: see [launch.md](launch.md)."""

    enabled: bool = True
    """Serve `POST /launch`, and on a port of its own for web pages; not where `port` is 0."""
    port: int = 9872
    """Port of the bridge, on 127.0.0.1."""
    origins: tuple[str, ...] = ()
    """Exact origins of the pages that may launch; `bascule bridge` has a list of its own if this is empty."""
    folder: str = ""
    """Folder for prompt files; empty means `$XDG_RUNTIME_DIR`, then the system's temporary folder."""
    terminal: str = ""
    """Terminal to open, by name, path or command line; empty means `$TERMINAL`, then the desktop's choice."""
    agent: str = "claude-code"
    """Agent to launch when a request names none."""
    type_prompts: bool = False
    """Type every prompt into the agent, so that none appears in the list of processes."""
    per_minute: int = 60
    """Launches per minute."""
    answer_ms: int = 400
    """How long an answer waits for the terminal's report before it says that there is none yet."""
    window_seconds: int = 20
    """A terminal that shows no window within this time has failed."""


Approval = Literal["notify_only", "local_confirm", "oob_confirm", "trusted_browsers", "auto"]
Confirmation = Literal["notify_only", "local_confirm", "oob_confirm"]


class StartsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What a session here may do (see [capabilities.md](capabilities.md)), and what starts from another
    machine need (see [machines.md](machines.md)). Only this file and the machine's own environment decide: a
    hub can ask for less, never for more."""

    approval: Approval = "notify_only"
    """What such a start needs: `notify_only` shows a notification, `local_confirm` waits for an answer on
    this machine, `oob_confirm` also sends a link by `webhook` or `command`, `trusted_browsers` takes only
    starts that a trusted browser has signed, `auto` asks and shows nothing."""
    unusual: Confirmation | None = None
    """What an unusual one needs besides: a new browser or address, an unusual hour, risky words, a burst.
    Not set: `oob_confirm` where `webhook` or `command` reaches you, else only the notification says it;
    also for what a trusted browser signed, and with `approval = "auto"`."""
    risky_words: tuple[str, ...] = ("delete", "sudo", "credentials", "rm -rf", "password", "private key")
    """Words in a prompt that make a start unusual."""
    wait_seconds: int = 300
    """A start that nobody approves is refused after this long."""
    block_seconds: int = 24 * 3600
    """How long "Block all" refuses such starts."""
    webhook: str = ""
    """Address that gets a JSON message with the link to approve a start; https, or http on this machine."""
    command: tuple[str, ...] = ()
    """Program and arguments, run for each start that waits, with the message and the link on its stdin."""
    ceiling: Capability = "full"
    """Highest capability level of a session here: `read_only`, `sandboxed`, `project_scoped` or `full`; also
    the level of a start that asks for none."""
    hub_may_widen: bool | None = None
    """Let a hub that this machine has joined widen what agents do here without asking: rules that allow,
    trusted folders, modes that allow by themselves, higher limits, prompt files. `false`: these are set on
    this machine only. Not set: as was answered when it joined (`bascule daemon hub-may-widen`), else no."""
    readable: tuple[str, ...] = ()
    """More folders and files that agents below `full` may read, such as `~/.cargo`."""
    writable: tuple[str, ...] = ()
    """More folders and files that agents below `full` may write, such as `~/.cache/pip`."""


class NotifySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Notifications: see [notifications.md](notifications.md). Channels are added in the page."""

    command: tuple[str, ...] = ()
    """Program to run for each notification, as a list of arguments; it gets it as JSON on stdin."""
    contact: str = ""
    """Address that push services may write to about this server, `mailto:…` or `https://…`; empty means
    `public_url`."""
    push_hosts: tuple[str, ...] = (
        "fcm.googleapis.com",
        "*.push.services.mozilla.com",
        "*.notify.windows.com",
        "*.push.apple.com",
    )
    """Push services that browsers may subscribe with; `*.example` stands for every host below."""


class Settings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    data_dir: str
    """State folder: database, spools, logs and keys."""
    config_dir: str
    """Folder of `config.toml` and of your own agent files."""
    store: str = ""
    """Address of the PostgreSQL database that `bascule hub` keeps everything in, such as
    `postgresql://bascule@db.example/bascule`; empty means a file in the state folder. A password belongs in
    `config.toml` or the environment, because others see what a command was started with."""
    node_url: str = ""
    """Address by which the other nodes of a hub on PostgreSQL reach this one, such as `http://10.0.0.5:3333`;
    empty means the address it listens on, or the one that the database sees."""
    node_ca: str | None = None
    """File of the certificates that other nodes may show at `https` addresses: self-signed ones, or
    those of an authority; none means those that this machine trusts, and `tls_cert`."""
    host: str = "127.0.0.1"
    """Address to listen on; one that is not loopback needs TLS or `insecure_bind`."""
    port: int = 3333
    """Port to listen on; 0 takes any free one."""
    tls_cert: str | None = None
    """TLS certificate file; needs `tls_key`. When the files change, new connections get the new one."""
    tls_key: str | None = None
    """TLS private key file; needs `tls_cert`."""
    insecure_bind: bool = False
    """Allow listening on a non-loopback address without TLS."""
    insecure_hub: bool = False
    """Allow this machine to join a hub on another host at an `http` address: its token crosses the network
    readable. For networks that encrypt by themselves."""
    public_url: str = ""
    """Address by which browsers and machines reach this server through a proxy or tunnel, such as
    `https://bascule.example`; links are made with it, and its host and origin are accepted."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses of reverse proxies whose `X-Forwarded-For` is believed, such as `127.0.0.1`."""
    allowed_hosts: tuple[str, ...] = ()
    """Exact `Host` values to accept besides the loopback ones, such as `bascule.example:3333`."""
    allowed_origins: tuple[str, ...] = ()
    """Exact `Origin` values to accept besides the server's own, such as `https://tools.example`."""
    roots: tuple[str, ...] = ()
    """Sessions may run only in these folders and below; empty means the home folder."""
    device_name: str = ""
    """Name of this machine in the page; empty means its host name."""
    allow_waits_seconds: int = 600
    """Seconds that an "allow" waits for a machine that is away; 0 means not at all. A "deny" and the answer
    to a question wait as long as the request does."""
    default_agent: str = ""
    """Agent used when a start names none; empty means the first installed one, and never the demo agent."""
    default_model: str = ""
    """Model for Claude Code when a start names none; empty means its own default."""
    claude_bin: str = ""
    """Path or name of the Claude Code program; empty means the usual places are searched."""
    find_sessions: bool = True
    """List sessions that agents started outside Bascule keep on this machine."""
    keep_awake: bool = True
    """Keep this machine from falling asleep while an agent works on a turn; needs `systemd-inhibit` or, on
    macOS, `caffeinate`."""
    pass_on: dict[str, tuple[str, ...]] = {}
    """Per agent, names of environment variables to pass on besides those its agent file lists."""
    limits: Limits = Limits()
    terminal: TerminalSettings = TerminalSettings()
    acp: AcpSettings = AcpSettings()
    launch: LaunchSettings = LaunchSettings()
    starts: StartsSettings = StartsSettings()
    notify: NotifySettings = NotifySettings()
