"""The text of each file that a service consists of: systemd unit, LaunchAgent, desktop entry. Pure."""

import re
from collections.abc import Mapping, Sequence

from bascule.model.errors import InvalidInput

UNIT = "bascule.service"
LABEL = "bascule.server"
ENTRY = "bascule-link.desktop"
SCHEME_TYPE = "x-scheme-handler/bascule"
OUR_LINGER = "# Lingering was switched on for this service."

_PLAIN = re.compile(r"[A-Za-z0-9_./:@=+-]+")

_UNIT = """[Unit]
Description=Bascule: the coding agents of this machine, in the browser
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart={command}
{environment}
# The first line that the server prints is a link with a secret, which is not for a journal.
StandardOutput=null
StandardError=journal
# Agents go on while the server is stopped or replaced.
KillMode=process
Restart=on-failure
RestartSec=5
# Wrong settings: another start would not help.
RestartPreventExitStatus=2

[Install]
WantedBy=default.target
"""

_ENTRY = """[Desktop Entry]
Type=Application
Name=Bascule link
Comment=Opens a terminal with an agent and a prompt typed in; you press Enter
Exec={command} %u
Terminal=false
NoDisplay=true
MimeType={scheme};
"""


def unit_text(argv: Sequence[str], environment: Mapping[str, str], *, our_linger: bool) -> str:
    """`our_linger`: it was off before, so removing the service switches it off again."""
    lines = [f"Environment={_unit_word(f'{name}={value}')}" for name, value in sorted(environment.items())]
    # Variables are expanded in every word but the first.
    command = " ".join([_unit_word(argv[0]), *(_unit_word(word).replace("$", "$$") for word in argv[1:])])
    text = _UNIT.format(command=command, environment="\n".join(lines))
    return f"{OUR_LINGER}\n{text}" if our_linger else text


def _unit_word(word: str) -> str:
    """One word for systemd, whatever it holds: quoted, and with nothing that it would expand."""
    _check(word)
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def agent_plist(argv: Sequence[str], environment: Mapping[str, str], log: str) -> bytes:
    """For launchd, which starts it when this user logs in."""
    properties = {
        "Label": LABEL,
        "ProgramArguments": list(argv),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        # Agents go on while the server is stopped or replaced.
        "AbandonProcessGroup": True,
        "StandardOutPath": "/dev/null",
        "StandardErrorPath": log,
    }
    import plistlib  # noqa: PLC0415 - with its XML parser, of no use for a start on Linux

    return plistlib.dumps(properties)


def desktop_entry(argv: Sequence[str]) -> str:
    return _ENTRY.format(command=" ".join(map(_entry_word, argv)), scheme=SCHEME_TYPE)


def _entry_word(word: str) -> str:
    """Quoted for the Exec key, and then escaped as every value of a desktop entry is."""
    _check(word)
    if _PLAIN.fullmatch(word):  # xdg-open reads no quotes where it need not
        return word
    for special in ("\\", '"', "`", "$"):
        word = word.replace(special, f"\\{special}")
    return '"' + word.replace("\\", "\\\\").replace("%", "%%") + '"'


def _check(word: str) -> None:
    if not word.isprintable():
        raise InvalidInput(f"{word!r} can't stand in a service's file: it holds a control character.")
