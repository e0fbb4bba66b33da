"""Writes every recording's expected events anew: `python -m tests.drivers.regolden`, then read the diff."""

import sys

from tests.drivers.recorded import NAMES, as_json, events_of, golden_path, output_of


def main() -> None:
    for name in NAMES:
        fresh = as_json(events_of(output_of(name)))
        path = golden_path(name)
        if not path.exists() or path.read_text() != fresh:
            path.write_text(fresh)
            sys.stdout.write(f"wrote {path.name}\n")


if __name__ == "__main__":
    main()
