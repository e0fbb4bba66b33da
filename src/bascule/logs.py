"""Logging of the server: JSON lines in a private file, short lines on stderr, secrets redacted."""

import io
import logging
import os
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from msgspec import Struct

from bascule.model.codec import encode, timestamp
from bascule.policy.redact import redact
from bascule.policy.visible import visible

FILE_NAME = "server.log"
FILE_BYTES = 5 * 1024 * 1024
OLD_FILES = 3
MAX_MESSAGE = 64 * 1024


class Line(Struct, frozen=True, omit_defaults=True):
    at: str
    level: str
    logger: str
    message: str
    error: str = ""


class JsonLines(logging.Formatter):
    """One JSON object a line: nothing an agent or a browser says can begin a line of its own."""

    def format(self, record: logging.LogRecord) -> str:
        line = Line(
            at=timestamp(record.created),
            level=record.levelname.lower(),
            logger=record.name,
            message=_clean(record.getMessage()),
            error=_clean(self.formatException(record.exc_info)) if record.exc_info else "",
        )
        return encode(line).decode()


class ShortLines(logging.Formatter):
    """For a person at the terminal. Tracebacks go to the file only; here their last line is enough."""

    def format(self, record: logging.LogRecord) -> str:
        prefix = "" if record.levelno <= logging.INFO else f"{record.levelname.lower()}: "
        text = prefix + _clean(record.getMessage())
        if record.exc_info and record.exc_info[1] is not None:
            text += f" ({type(record.exc_info[1]).__name__}: {_clean(str(record.exc_info[1]))})"
        return visible(text).replace("\n", " ")


def _clean(text: str) -> str:
    if len(text) > MAX_MESSAGE:
        text = f"{text[:MAX_MESSAGE]}… ({len(text)} characters)"
    # A lone surrogate has no UTF-8; it is written out instead of losing the line.
    return redact(text).encode(errors="backslashreplace").decode()


class PrivateRotatingFile(RotatingFileHandler):
    """A rotating file that is 0600 from its first moment."""

    def _open(self) -> io.TextIOWrapper:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self.baseFilename, flags, 0o600)
        os.fchmod(descriptor, 0o600)
        return io.TextIOWrapper(io.FileIO(descriptor, "ab"), encoding="utf-8", write_through=True)


def set_up(data_dir: str | Path, *, level: int = logging.INFO, stderr: TextIO | None = None) -> None:
    """Send every logger to `data_dir/server.log` and stderr, replacing what was set up before."""
    file = PrivateRotatingFile(
        Path(data_dir) / FILE_NAME, maxBytes=FILE_BYTES, backupCount=OLD_FILES, encoding="utf-8"
    )
    file.setFormatter(JsonLines())
    person = logging.StreamHandler(stderr or sys.stderr)
    person.setFormatter(ShortLines())
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
        old.close()
    root.setLevel(level)
    root.addHandler(file)
    root.addHandler(person)
    # A line for every connection says nothing to a person; our own rooms log what matters.
    for noisy in ("uvicorn", "websockets"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
