"""`hears_later.py FILE`: says hello, reads nothing until FILE is there, then behaves."""

import sys
import time
from pathlib import Path

from speech import behave, init, say

init()
say("I do not listen yet.")
while not Path(sys.argv[1]).exists():
    time.sleep(0.05)
behave()
