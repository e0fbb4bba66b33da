"""A machine whose clock is wrong: a small library under the program moves its time of day."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *) = NULL;
    static long moved = 0;
    if (real == NULL) {
        const char *wanted = getenv("CLOCK_MOVED");
        moved = wanted == NULL ? 0 : atol(wanted);
        real = dlsym(RTLD_NEXT, "clock_gettime");
    }
    int result = real(clock, now);
    if (clock == CLOCK_REALTIME && result == 0) now->tv_sec += moved;
    return result;
}
"""


def moved(folder: Path, seconds: int) -> dict[str, str]:
    """The environment of a program whose clock is ahead by so many seconds."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("a clock that is wrong needs a C compiler and Linux")
    library = folder / "clock.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, "-x", "c", "-", "-ldl"],
        input=SOURCE.encode(),
        check=True,
    )
    return {"LD_PRELOAD": str(library), "CLOCK_MOVED": str(seconds)}
