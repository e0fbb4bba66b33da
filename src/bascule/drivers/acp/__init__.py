"""Driver for the Agent Client Protocol (ACP), client side, one session."""

from bascule.drivers.acp.driver import AcpDriver

__all__ = ["AcpDriver"]
