"""A power cut: what a program wrote and never synced is gone.

A small library under the program copies each file of the database at the moment it is synced. The copies are
what a disk would hold at the least; a test opens them instead of the files themselves.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void keep(int fd) {
    char link[64], path[4096], target[8192], whole[8256], block[65536];
    const char *folder = getenv("SYNCED_COPIES");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (folder == NULL || length < 0) return;
    path[length] = 0;
    if (strstr(path, "bascule.db") == NULL) return;
    snprintf(target, sizeof target, "%s%s", folder, strrchr(path, '/'));
    // Under another name first: a program that is killed in here leaves the copy of the sync before whole.
    snprintf(whole, sizeof whole, "%s.%d", target, gettid());
    int in = open(path, O_RDONLY);
    if (in < 0) return;
    int out = open(whole, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t got;
    while ((got = read(in, block, sizeof block)) > 0)
        if (write(out, block, got) != got) abort();
    close(in);
    close(out);
    if (rename(whole, target) != 0) abort();
}

int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    keep(fd);
    return real(fd);
}

int fdatasync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    keep(fd);
    return real(fd);
}
"""


class Machine:
    """Runs a program until it has said enough, then cuts the power."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None or sys.platform != "linux":
            pytest.skip("a power cut needs a C compiler and Linux")
        self._library = folder / "synced.so"
        self.disk = folder / "disk"
        self.disk.mkdir()
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-o", self._library, "-x", "c", "-", "-ldl"],
            input=SOURCE.encode(),
            check=True,
        )

    @property
    def env(self) -> dict[str, str]:
        """With this, a program's synced files are in `disk`."""
        return {"LD_PRELOAD": str(self._library), "SYNCED_COPIES": str(self.disk)}

    def run_until(self, database: Path, program: Path, last: str) -> Path:
        """The database as it is on the disk when the program had printed `last` and lost power."""
        shutil.copy(database, self.disk / database.name)
        child = subprocess.Popen(
            [sys.executable, str(program), str(database)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **self.env},
        )
        assert child.stdout is not None
        with child:
            said = [line.strip() for line in iter(child.stdout.readline, f"{last}\n")]
            child.kill()
        assert child.returncode == -9, said
        return self.disk / database.name
