"""Small files of the state folder that only this user may read, replaced as a whole."""

import os
from pathlib import Path


def write_private(path: Path, data: bytes) -> None:
    """On the disk when this returns; a reader meanwhile gets the old one or the new one."""
    fresh = path.with_suffix(".new")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
