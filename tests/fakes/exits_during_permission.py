"""`exits_during_permission.py CODE`: asks for a permission and is gone before anybody can answer."""

import sys

from speech import ask_permission, heard, init, number

heard()
init()
ask_permission("req-exits")
sys.exit(number(1, 0))
