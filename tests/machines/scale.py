"""How large the tests of machines are: small among all tests, as large as promised in `make machines`."""

import os

FULL = os.environ.get("BASCULE_TEST_SCALE") == "full"


def scaled(small: int, full: int) -> int:
    return full if FULL else small
