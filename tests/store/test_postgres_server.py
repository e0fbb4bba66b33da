"""The PostgreSQL server of tests goes with them."""

import subprocess
import sys
from pathlib import Path

from tests.waiting import PATIENCE

KILLED = """
import sys
from tests.store.postgres_server import outlived_by

with outlived_by(f"echo stopped > {sys.argv[1]}"):
    print("up", flush=True)
    sys.stdin.read()
"""


def test_a_run_of_tests_that_is_killed_leaves_no_server_behind(tmp_path: Path) -> None:
    said = tmp_path / "said"
    subprocess.run(["mkfifo", str(said)], check=True)
    killed = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(said)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert killed.stdout is not None
    assert killed.stdin is not None
    assert killed.stdout.readline() == "up\n"
    killed.kill()
    killed.wait(PATIENCE)
    killed.stdin.close()
    killed.stdout.close()
    assert said.read_text() == "stopped\n"  # opening it waits for the other end
