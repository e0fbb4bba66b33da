"""A program's stdin as a file in memory: unlike a pipe, it can't break when the program ends early."""

import os
import sys
import tempfile
from typing import IO


def stdin_file(data: bytes) -> IO[bytes]:
    """With a pipe, uvloop refuses to write once the program has ended: what it said about that is lost."""
    if sys.platform == "linux":
        file: IO[bytes] = os.fdopen(os.memfd_create("stdin"), "w+b")
    else:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(data)
    file.seek(0)
    return file
