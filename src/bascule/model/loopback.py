"""Whether a host name or address is this machine's own."""

import ipaddress


def is_loopback(host: str) -> bool:
    """`localhost`, 127.0.0.0/8 or ::1, with or without the brackets of a URL. No name is looked up."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
