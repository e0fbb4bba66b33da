"""Agents that speak plain text."""

from bascule.drivers.plain.driver import PlainDriver

__all__ = ["PlainDriver"]
