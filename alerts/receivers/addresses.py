"""The nature of an address: whom it reaches. One that holds another (IPv4 in IPv6, as RFC 4291, 6052, 3056,
4380 and 5214 write it) is what it holds."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Literal

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
        if plain.sixtofour is None:  # of these `is_global` is false since 2024, whatever they hold
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
