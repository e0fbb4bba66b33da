"""Says hello and never reads its stdin."""

import signal

from speech import init, say

init()
say("I do not listen.")
while True:
    signal.pause()
