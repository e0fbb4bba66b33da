"""Driver for agents that print plain text."""

from bascule.drivers.plain.driver import PlainDriver

__all__ = ["PlainDriver"]
