"""The access of each capability level: what a process may read, write, run and connect to. Pure."""

from msgspec import Struct

from bascule.model.capability import Capability

PROJECT = "."  # the working folder that was checked, whatever its name leads to by then

# What belongs to the system and to nobody: programs, libraries, settings, what the kernel tells.
SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/etc",
    "/proc",
    "/sys",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
)
# Not /dev/pts: other terminals are in it. A process in a terminal gets its own one.
DEVICES = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts/ptmx",
)
# What the kernel runs to load a program. A level that runs nothing but the agent still needs these.
LOADERS = (
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
)
MODEL_PORT = 443


class Needs(Struct, frozen=True):
    """What an agent needs besides its project, as paths of this machine."""

    programs: tuple[str, ...] = ()  # what it runs from
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()  # its settings, conversations and caches
    temp: str = ""  # a folder of this process alone
    git_reads: tuple[str, ...] = ()  # of the repository whose work tree the project is
    git_writes: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()  # of its model and its proxies, from its environment


class Reach(Struct, frozen=True):
    """`rules`: letters (r read, w write, x run, i device control) and a path. `ports`: None for any."""

    rules: tuple[tuple[str, str], ...]
    ports: tuple[int, ...] | None


def reach_of(level: Capability, needs: Needs) -> Reach:
    """For every level but `full`, which has no cage."""
    common = "r" if level == "read_only" else "rx"
    rules = [(common, path) for path in (*SYSTEM, *needs.reads)]
    rules += [("rx", path) for path in (*LOADERS, *needs.programs)]
    rules += [("rwi", path) for path in DEVICES]
    rules += [("rw" if level == "read_only" else "rwx", path) for path in needs.writes]
    rules += [(common, path) for path in needs.git_reads]
    rules += [("rw" if level == "project_scoped" else "r", path) for path in needs.git_writes]
    if needs.temp:
        rules.append(("rw" if level == "read_only" else "rwx", needs.temp))
    rules.append(("rwx" if level == "project_scoped" else common, PROJECT))
    ports = None if level == "project_scoped" else tuple(sorted({MODEL_PORT, *needs.ports}))
    return Reach(tuple(rules), ports)
