"""A cage on macOS: the profile for `sandbox-exec`, in its own language."""

from collections.abc import Sequence

from bascule.daemon.cages.reach import PROJECT, Reach

PROGRAM = "/usr/bin/sandbox-exec"
# What every program on macOS reads, and the services without which none starts.
SYSTEM = ("/usr", "/bin", "/sbin", "/System", "/Library", "/opt", "/Applications", "/private/etc", "/dev")
_ALWAYS = """(version 1)
(deny default)
(allow process-fork)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup)
(allow file-read-metadata)
(allow file-read* (literal "/"))
(allow file-write* (literal "/dev/null") (literal "/dev/tty") (literal "/dev/ptmx"))
(allow file-ioctl (literal "/dev/tty") (literal "/dev/ptmx"))
(allow pseudo-tty)"""


def profile(reach: Reach, cwd: str) -> str:
    lines = [_ALWAYS]
    letters_by_path: dict[str, set[str]] = {path: {"r", "x"} for path in SYSTEM}
    if not any(path == "/usr" and "x" in letters for letters, path in reach.rules):
        letters_by_path = {path: {"r"} for path in SYSTEM}
    for letters, path in reach.rules:
        if not path.startswith("/dev/"):
            letters_by_path.setdefault(cwd if path == PROJECT else path, set()).update(letters)
    for path, letters in sorted(letters_by_path.items()):
        where = f"(subpath {_quoted(path)})"
        lines.append(f"(allow file-read* {where})")
        lines += [f"(allow file-write* {where})"] if "w" in letters else []
        lines += [f"(allow process-exec {where})"] if "x" in letters else []
    if reach.ports is None:
        lines.append('(allow network* (remote ip "*:*") (local ip "*:*"))')
    else:
        lines += [f'(allow network-outbound (remote tcp "*:{port}"))' for port in reach.ports]
        lines.append('(allow network-outbound (remote udp "*:53"))')
    lines.append('(allow network-outbound (literal "/private/var/run/mDNSResponder"))')
    return "\n".join(lines)


def wrapped(reach: Reach, cwd: str, argv: Sequence[str]) -> tuple[str, ...]:
    return (PROGRAM, "-p", profile(reach, cwd), *argv)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
