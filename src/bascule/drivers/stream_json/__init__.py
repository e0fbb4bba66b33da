"""Driver for Claude Code's stream-json with its control protocol."""

from bascule.drivers.stream_json.driver import StreamJsonDriver

__all__ = ["StreamJsonDriver"]
