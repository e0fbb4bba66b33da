"""Where a session may run: a real folder below an allowed root. The looking is done by whoever asks."""

from collections.abc import Sequence
from pathlib import PurePosixPath

MAX_PATH = 4096


def problem_with(text: str) -> str | None:
    """What is wrong with a path before anybody touches the disk, in words; None when nothing is."""
    if not text:
        return "The folder is empty; give an absolute path."
    if len(text.encode(errors="surrogatepass")) >= MAX_PATH:
        return "The folder's path is too long."
    if not text.isprintable():
        return "The folder's path holds hidden or control characters."
    if not text.startswith("/"):
        return "The folder must be an absolute path, such as /home/you/project."
    if ".." in PurePosixPath(text).parts:
        return "The folder's path must not contain '..'."
    return None


def inside(real_path: str, real_roots: Sequence[str]) -> bool:
    """Is a resolved path one of the resolved roots, or below one?"""
    path = PurePosixPath(real_path)
    return any(path.is_relative_to(root) for root in real_roots)
