"""Driver for the Agent Client Protocol (ACP), client side, one session."""
