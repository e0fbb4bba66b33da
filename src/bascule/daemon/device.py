"""This machine's identity: a display name, and an id that stays when the name changes."""

import os
import secrets
from pathlib import Path

from msgspec import Struct

FILE = "device"


class Device(Struct, frozen=True):
    id: str
    name: str

    @classmethod
    def of(cls, folder: Path, name: str) -> "Device":
        """The device of this state folder; its id is made once."""
        path = folder / FILE
        try:
            return cls(path.read_text().strip(), name)
        except FileNotFoundError:
            made = secrets.token_hex(8)
            fresh = folder / f"{FILE}.new"
            fresh.write_text(f"{made}\n")
            os.chmod(fresh, 0o600)
            fresh.replace(path)
            return cls(made, name)
