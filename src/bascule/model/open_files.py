"""The limit of open files: enough for many viewers and agents; for the agents themselves, what it was."""

import resource

MOST = 65_536
AT_START: int = resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def set_own_limit() -> None:
    """Each viewer and each running agent needs files, and many systems allow 1,024 unless asked for more."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    soft = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
