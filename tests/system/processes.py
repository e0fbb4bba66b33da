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
    return Path(f"/proc/{pid}/environ").read_bytes()


def raw_words(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
