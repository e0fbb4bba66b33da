"""Field types with their limits, shared by everything that comes in from outside."""

from typing import Annotated, Literal

from msgspec import Meta

MAX_TEXT = 1_048_576  # characters of one message to an agent

Text = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
Short = Annotated[str, Meta(max_length=4096)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Title = Annotated[str, Meta(min_length=1, max_length=500)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Cells = Annotated[int, Meta(ge=-(2**53), le=2**53)]  # of a terminal; clamped where the terminal is
Seq = Annotated[int, Meta(ge=0, le=2**53)]  # a position in a log
Epoch = Annotated[str, Meta(max_length=64)]  # which history a position is of
DriverName = Literal["stream_json", "acp", "codex", "plain", "terminal"]
