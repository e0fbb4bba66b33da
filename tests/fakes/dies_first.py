"""`dies_first.py CODE`: complains on stderr and exits before its first byte of output."""

import sys

from speech import number

sys.stderr.write("fatal: this agent dies first\n")
sys.exit(number(1, 1))
