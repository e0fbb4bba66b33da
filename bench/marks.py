"""Every mark that Bascule is held to, in one run: `make bench BENCH=marks [ARGS="--only chat"]`.

Measured beside a bare relay, ttyd (where it is on PATH), terminado and CloudCLI; the last two are installed
into scratch folders. About a quarter of an hour, and some minutes more when CloudCLI has to be installed.
`--quick` only shows that everything works. On a busy machine the figures prove nothing: the load is shown.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator

from beside_cloudcli import beside_cloudcli
from contestants import Bare, Bascule
from growth import growth
from growth_lists import lists
from page_live import page_while_live
from page_open import page_opening
from page_start import page_over_slow_line
from relay import machine
from streaming import Sizes, fan_out, latency, throughput
from table import HEAD, Figure, row

from terminal import terminals


def relay(measure: Callable[..., Iterator[Figure]]) -> Callable[[Sizes], Iterator[Figure]]:
    def part(sizes: Sizes) -> Iterator[Figure]:
        with Bare() as other, Bascule() as bascule:
            yield from measure(other, bascule, sizes)

    return part


PARTS: dict[str, Callable[[Sizes], Iterator[Figure]]] = {
    "throughput": relay(throughput),
    "latency": relay(latency),
    "cloudcli": beside_cloudcli,
    "fan-out": relay(fan_out),
    "terminals": terminals,
    "growth": growth,
    "lists": lists,
    "page": page_over_slow_line,
    "page-open": page_opening,
    "page-live": page_while_live,
}


def measured(name: str, sizes: Sizes) -> Iterator[Figure]:
    """The figures of a part. One that breaks (no browser, say) is a row as well: the others still count."""
    try:
        yield from PARTS[name](sizes)
    except Exception as error:  # noqa: BLE001 - it is shown
        yield Figure(name, 0.0, "", "", absent=f"{type(error).__name__}: {error}".splitlines()[0])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one small round: does everything work?")
    parser.add_argument("--only", action="append", choices=[*PARTS], metavar="NAME", help=", ".join(PARTS))
    options = parser.parse_args()
    began, missed = time.monotonic(), list[str]()
    print(f"{machine()}\n\n{HEAD}", flush=True)
    for name in options.only or PARTS:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        for figure in measured(name, Sizes(quick=options.quick)):
            print(row(figure), flush=True)
            if not figure.is_held:
                missed.append(figure.what)
    took = f"{time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f} at the end"
    print(f"\n{took}. " + (f"Missed: {'; '.join(missed)}." if missed else "Every mark is held."))


if __name__ == "__main__":
    main()
