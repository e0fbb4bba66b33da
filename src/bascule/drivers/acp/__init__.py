"""The Agent Client Protocol, client side, for one session."""

from bascule.drivers.acp.driver import AcpDriver

__all__ = ["AcpDriver"]
