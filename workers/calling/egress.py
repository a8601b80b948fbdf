"""Which hosts we may talk to. The decision is made on resolved addresses, and the checked address is the one used.

Special ranges: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and successors), written out because
`ipaddress.is_global` differs between Python versions.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Self
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Awaitable[tuple[str, ...]]]

# An operator who names a host accepts that it lives here; the rest of the special ranges needs its CIDR.
_HOME = tuple(
    ipaddress.ip_network(text)
    for text in ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
)
# Where clouds hand out credentials: no name opens these, not even one that the operator trusts.
_METADATA = tuple(
    ipaddress.ip_network(text)
    for text in (
        "169.254.0.0/16",
        "fe80::/10",
        "fd00:ec2::254/128",
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure's wire server: a public address that only the inside can reach
    )
)
_SPECIAL = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/96",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
        "ff00::/8",
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_UGLY = re.compile(r"[\s\x00-\x20\x7f\\]")
_HOST_PORT = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\[\]:/\s]+)(?::(?P<port>\d{1,5}))?")


class EgressRefused(Exception):
    """This host, or an address it resolves to, is not ours to talk to."""

    def __init__(self, host: str, why: str) -> None:
        super().__init__(host, why)
        self.host = host
        self.why = why


class HostUnknown(Exception):
    """The name does not resolve."""


@dataclass(frozen=True)
class AllowList:
    """Hosts and networks that may be private; a port, where given, limits the entry to it."""

    hosts: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[tuple[Network, int | None], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `host`, `host:port`, `[v6]:port`, addresses and CIDRs, separated by commas.

        Raises:
            ValueError: an entry is none of these; it is named.
        """
        hosts: set[tuple[str, int | None]] = set()
        networks: list[tuple[Network, int | None]] = []
        for entry in filter(None, (part.strip() for part in text.split(","))):
            network, port = _as_network(entry)
            if network is not None:
                networks.append((network, port))
            else:
                hosts.add(_as_host(entry))
        return cls(frozenset(hosts), tuple(networks))

    def names(self, host: str, port: int) -> bool:
        return (host, None) in self.hosts or (host, port) in self.hosts

    def lists(self, host: str, port: int) -> bool:
        """Whether the host as it is written is on the list: by name, or by its address when that is what is written."""
        try:
            address = ipaddress.ip_address(plain_host(host))
        except ValueError:
            return self.names(plain_host(host), port)
        return self.holds(effective(address), port)

    def holds(self, address: Address, port: int) -> bool:
        return any(
            address.version == network.version and address in network and only in (None, port)
            for network, only in self.networks
        )


def _as_network(entry: str) -> tuple[Network | None, int | None]:
    try:
        return ipaddress.ip_network(entry.strip("[]"), strict=False), None
    except ValueError:
        host, port = _host_port(entry)
    try:
        return ipaddress.ip_network(host), port
    except ValueError:
        return None, None


def _as_host(entry: str) -> tuple[str, int | None]:
    host, port = _host_port(entry)
    return host, port


def _host_port(entry: str) -> tuple[str, int | None]:
    match = _HOST_PORT.fullmatch(entry)
    if match is None:
        raise ValueError(
            "CALLING_ALLOWED_HOSTS and CALLING_USER_TOKEN_HOSTS list hosts:"
            f" {entry!r} is neither a host, host:port, address nor CIDR"
        )
    port = match["port"]
    return plain_host(match["host"]), int(port) if port else None


def plain_host(host: str) -> str:
    """Lower-case, without brackets and trailing dots: the form in which hosts are compared."""
    return host.strip("[]").rstrip(".").lower()


def check_url(url: str) -> None:
    """Refuse what is wrong before any name is resolved: scheme, user info, odd characters, no host, bad port.

    Raises:
        EgressRefused: with the fault.
    """
    try:
        split = urlsplit(url)
    except ValueError:
        raise EgressRefused("", "not a URL") from None
    if split.scheme.lower() not in ("http", "https"):
        raise EgressRefused("", "only http and https")
    if _UGLY.search(url):
        raise EgressRefused("", "white space, control characters or backslashes in the URL")
    if "@" in split.netloc:
        raise EgressRefused("", "user info in the URL")
    try:
        port = split.port
    except ValueError:
        raise EgressRefused(split.hostname or "", "not a port") from None
    if not split.hostname or not plain_host(split.hostname) or port == 0:
        raise EgressRefused(split.hostname or "", "no host or no port")


def effective(address: Address) -> Address:
    """Return the IPv4 address that an IPv4-mapped or NAT64 address stands for; else the address itself."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def may_connect(host: str, port: int, address: str, *, allowed: AllowList) -> bool:
    """Whether this resolved address of the host may be used: public ones, and those the allow-list covers."""
    real = effective(ipaddress.ip_address(address.partition("%")[0]))
    if allowed.holds(real, port):
        return True
    if _within(real, _METADATA):
        return False
    if _within(real, _HOME):
        return allowed.names(plain_host(host), port)
    return real.is_global and not _within(real, _SPECIAL)


def _within(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


async def system_resolve(host: str, port: int) -> tuple[str, ...]:
    """Ask the system's resolver, off the loop. Addresses come in its order, each once."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


class EgressGuard:
    """Resolves a name once and answers with addresses that may be used as they are."""

    def __init__(self, allowed: AllowList, *, resolve: Resolve = system_resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the checked addresses of a host, at least one.

        Raises:
            EgressRefused: one of them is not allowed (a name that answers with both kinds is an attack).
            HostUnknown: the name does not resolve.
        """
        try:
            found = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise HostUnknown(host) from error
        if not found:
            raise HostUnknown(host)
        for address in found:
            if not may_connect(host, port, address, allowed=self._allowed):
                raise EgressRefused(host, f"{address} is not public")
        return found
