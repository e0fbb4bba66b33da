"""File names in the keeper's folder, shared by the keeper and the readers of its spools."""

SOCKET = "keeper.sock"
LOCK = "keeper.lock"
LOG = "keeper.log"
SPOOL = "spool"
ABOUT = "about.json"  # in each spool folder: what was started there
TIMES = "times"  # in each terminal's spool folder: when it wrote what
SEGMENT_BYTES = 8 * 1024 * 1024


def segment_name(stream: str, start: int) -> str:
    """Name of the segment whose first byte is `start`; sorted by name is sorted by offset."""
    return f"{stream}.{start:020d}"


def segment_start(offset: int) -> int:
    """Segments are cut exactly every SEGMENT_BYTES, so a reader needs no directory listing to find one."""
    return offset - offset % SEGMENT_BYTES
