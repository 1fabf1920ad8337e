"""Egress: which addresses a receiver may have.

A name is looked up by others, so that whoever owns it chooses where the job connects to: its own machine, its
neighbours, the address where a cloud gives away credentials. So every address of a name is looked at, and the
connection goes to one of those that were. An address that holds another one (IPv4 in IPv6, as RFC 4291, 6052,
3056, 4380 and 5214 write it) is what it holds.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Literal

import httpcore

Nature = Literal["public", "private", "loopback", "forbidden"]
"""reached by everybody; of a network of somebody's own; of this machine; never a receiver's."""

_WORST: tuple[Nature, ...] = ("public", "private", "loopback", "forbidden")
_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"),
    )
)
"""Where clouds tell a machine its credentials, but for those that are link-local: Alibaba, Azure, Oracle,
Amazon, Google."""
_THIS_NETWORK = IPv4Network("0.0.0.0/8")
_RESERVED = IPv4Network("240.0.0.0/4")
_HOLDS_LAST = tuple(map(IPv6Network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
"""Prefixes of addresses that mean the IPv4 address in their last 32 bits, and nothing else."""
_UNSEEN = IPv6Network("64:ff9b:1::/48")  # translated where the network's owner likes, RFC 8215
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


class RefusedError(httpcore.ConnectError):
    """A host has an address that a receiver must not have; the text names both."""


@dataclass(frozen=True, slots=True)
class Egress:
    """The addresses that one receiver may have: public ones, with `private` also those of private networks
    and of this machine. A URL that has such an address itself, or the name localhost, allows that one."""

    private: bool = False

    def check(self, host: str, addresses: Sequence[str]) -> None:
        """Raises RefusedError if one of a host's addresses is none for this receiver."""
        for address in addresses:
            if (said := self._refusal(host, address)) is not None:
                raise RefusedError(said)

    def _refusal(self, host: str, address: str) -> str | None:
        found = nature(address)
        place = address if _same(host, address) else f"{host} is {address}, which"
        if found == "forbidden":
            return f"{place} is no address of a receiver: link-local, multicast, unspecified or a cloud's own"
        if found == "public" or self.private or _same(host, address):
            return None
        if found == "loopback" and host.rstrip(".").lower() == "localhost":
            return None
        return f"{place} is {found}: a name may have such an address only with allow_private = true"


def forbidden(host: str) -> bool:
    """True if a URL's host is an address, and one that no receiver may have."""
    with suppress(ValueError):
        return nature(host) == "forbidden"
    return False


def nature(address: str) -> Nature:
    """The nature of an address and of what it holds, the worst of all. Raises ValueError for no address."""
    return max(_natures(ipaddress.ip_address(address)), key=_WORST.index)


def _natures(address: IPv4Address | IPv6Address) -> Iterator[Nature]:
    if isinstance(address, IPv4Address):
        yield _of_4(address)
        return
    plain = IPv6Address(int(address))  # without its zone
    if plain.is_loopback:
        yield "loopback"
    elif plain.is_unspecified:
        yield "forbidden"
    elif any(plain in prefix for prefix in _HOLDS_LAST):
        yield _of_4(_last(plain))
    else:
        yield _of_6(plain)
        yield from map(_of_4, _held(plain))


def _of_4(address: IPv4Address) -> Nature:
    if address.is_loopback:
        return "loopback"
    if (
        address in _METADATA
        or address in _THIS_NETWORK
        or address in _RESERVED
        or address.is_link_local
        or address.is_multicast
    ):
        return "forbidden"
    return "public" if address.is_global else "private"


def _of_6(address: IPv6Address) -> Nature:
    if address in _METADATA or address in _UNSEEN or address.is_link_local or address.is_multicast:
        return "forbidden"
    return "public" if address.is_global and not address.is_site_local else "private"


def _held(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses in one of 6to4, Teredo or ISATAP."""
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        yield _last(address)


def _last(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFF_FFFF)


def _same(host: str, address: str) -> bool:
    """True if the host is this address itself."""
    with suppress(ValueError):
        return ipaddress.ip_address(host) == ipaddress.ip_address(address)
    return False
