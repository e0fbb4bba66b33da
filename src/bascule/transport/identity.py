"""Is that very process still alive? A pid alone may be another's by now, or be from before a reboot."""

from pathlib import Path

from bascule.transport.words import Spawned


def boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def is_alive(process: Spawned) -> bool:
    """True only for the same pid, start time and boot; a zombie is not alive."""
    if process.boot != boot_id():
        return False
    try:
        text = Path(f"/proc/{process.pid}/stat").read_bytes()
    except OSError:
        return False
    # The command name may hold spaces and parentheses; what follows the last one is fixed.
    fields = text[text.rfind(b")") + 2 :].split()
    return fields[0] not in (b"Z", b"X") and int(fields[19]) == process.started
