"""Sessions begun outside Bascule: found in the agents' own files, shown, followed and continued."""
