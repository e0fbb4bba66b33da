"""JSON-RPC over lines: the core that the ACP and Codex drivers build on. Knows no method of either."""
