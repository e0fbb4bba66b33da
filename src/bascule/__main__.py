"""`python -m bascule` is the command line."""

import sys

from bascule.cli import main

sys.exit(main())
