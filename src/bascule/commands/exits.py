"""Exit codes of the command line."""

OK = 0
FAILED = 1  # the turn ended in an error, the session died, a check found something
USAGE = 2
UNREACHABLE = 3  # no server runs, or it can't be reached
REFUSED = 4  # the server said no
INTERRUPTED = 130  # by Ctrl-C; a second one leaves the session running
