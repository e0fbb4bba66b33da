"""Type-checks the page's JavaScript with the locked TypeScript, fetched when it is missing (`make page`)."""

import subprocess
import sys

from vendor import HERE, QUIET, node_and_npm

TSC = HERE / "node_modules" / "typescript" / "bin" / "tsc"


def main() -> int:
    node, npm = node_and_npm()
    if not TSC.is_file():
        subprocess.run([*npm, "ci", *QUIET], cwd=HERE, check=True)
    return subprocess.run([node, str(TSC), "-p", "."], cwd=HERE, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
