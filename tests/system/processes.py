"""What the kernel knows about processes: children, words, environment, open files."""

from pathlib import Path

import psutil


def tree(*pids: int) -> list[psutil.Process]:
    """These processes and all their descendants."""
    found: list[psutil.Process] = []
    for pid in pids:
        top = psutil.Process(pid)
        found += [top, *top.children(recursive=True)]
    return found


def raw_environment(pid: int) -> bytes:
    return _raw(pid, "environ")


def raw_words(pid: int) -> bytes:
    return _raw(pid, "cmdline")


def _raw(pid: int, name: str) -> bytes:
    """Nothing, when the process has ended since it was found, as one does that was asked for its version."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
