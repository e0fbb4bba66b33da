"""Works, but neither the end of its stdin nor SIGTERM, SIGINT or SIGHUP makes it leave."""

import signal

from speech import behave

for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(one, signal.SIG_IGN)
behave()
while True:
    signal.pause()
