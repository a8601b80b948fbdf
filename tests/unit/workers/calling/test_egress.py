from __future__ import annotations

import socket

import pytest

from workers.calling.egress import (
    AllowList,
    EgressGuard,
    EgressRefused,
    HostUnknown,
    check_url,
    may_connect,
    system_resolve,
)

NOBODY = AllowList()

# Spellings that the system's resolver turns into an address of ours without asking the network.
SPELLINGS = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "017700000001",
    "0177.1",
    "127.0.0.01",
    "localhost",
    "LOCALHOST",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "0.0.0.0",  # noqa: S104 - an address to refuse
    "0",
    "::",
    "10.0.0.1",
    "167772161",
    "012.0.0.1",
    "192.168.1.1",
    "0xc0a80101",
    "172.16.0.1",
    "172.31.255.255",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2001:0:7f00:1::",
    "fe80::1",
    "fd00:ec2::254",
    "fc00::1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "ff02::1",
    "255.255.255.255",
    "240.0.0.1",
]


@pytest.mark.parametrize("host", SPELLINGS)
async def test_no_spelling_of_an_inner_address_passes(host: str) -> None:
    guard = EgressGuard(NOBODY)

    with pytest.raises(EgressRefused):
        await guard.addresses(host, 80)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::808:808", "193.40.5.1"]
)
def test_public_addresses_pass(address: str) -> None:
    assert may_connect("a.ee", 443, address, allowed=NOBODY)


@pytest.mark.parametrize("host", ["rebound.test", "7f000001.nip.io", "localhost."])
async def test_the_decision_is_made_on_the_resolved_address_whatever_the_name(host: str) -> None:
    async def inner(_host: str, _port: int) -> tuple[str, ...]:
        return ("127.0.0.1",)

    with pytest.raises(EgressRefused):
        await EgressGuard(NOBODY, resolve=inner).addresses(host, 80)


async def test_a_name_that_answers_with_both_kinds_is_refused() -> None:
    async def both(_host: str, _port: int) -> tuple[str, ...]:
        return ("8.8.8.8", "10.0.0.1")

    with pytest.raises(EgressRefused):
        await EgressGuard(NOBODY, resolve=both).addresses("a.ee", 80)


async def test_a_name_nobody_knows_is_unknown_not_refused() -> None:
    async def nowhere(_host: str, _port: int) -> tuple[str, ...]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(HostUnknown):
        await EgressGuard(NOBODY, resolve=nowhere).addresses("a.ee", 80)


async def test_the_checked_address_is_the_one_given_back() -> None:
    guard = EgressGuard(AllowList.parse("localhost"), resolve=system_resolve)

    assert set(await guard.addresses("localhost", 80)) <= {"127.0.0.1", "::1"}


ALLOWED = [
    ("127.0.0.1", "127.0.0.1", 80, True),
    ("127.0.0.1:8190", "127.0.0.1", 8190, True),
    ("127.0.0.1:8190", "127.0.0.1", 6379, False),
    ("127.0.0.1", "127.0.0.2", 80, False),
    ("10.0.0.0/8", "10.200.3.4", 80, True),
    ("10.0.0.0/8", "192.168.0.1", 80, False),
    ("10.0.0.0/8", "::ffff:10.0.0.1", 80, True),
    ("::1", "::1", 80, True),
    ("[::1]:8080", "::1", 8080, True),
    ("[::1]:8080", "::1", 80, False),
    ("fc00::/7", "fd12::1", 80, True),
    ("169.254.0.0/16", "169.254.169.254", 80, True),
    (" 10.0.0.0/8 , 127.0.0.1 ,", "127.0.0.1", 80, True),
]


@pytest.mark.parametrize(("entries", "address", "port", "passes"), ALLOWED)
def test_an_allow_list_of_addresses_opens_exactly_what_it_names(
    entries: str,
    address: str,
    port: int,
    passes: bool,  # noqa: FBT001
) -> None:
    assert may_connect("any.name", port, address, allowed=AllowList.parse(entries)) is passes


@pytest.mark.parametrize(
    ("host", "port", "address", "passes"),
    [
        ("demo.local", 8190, "127.0.0.1", True),
        ("DEMO.local.", 8190, "10.1.2.3", True),
        ("demo.local", 80, "127.0.0.1", False),
        ("other.local", 8190, "127.0.0.1", False),
        ("demo.local", 8190, "169.254.169.254", False),
        ("demo.local", 8190, "fd00:ec2::254", False),
        ("demo.local", 8190, "fd00::254", True),
    ],
    ids=[
        "named",
        "other case and dot",
        "other port",
        "other name",
        "metadata stays closed",
        "metadata over v6",
        "unique local",
    ],
)
def test_a_named_host_may_live_at_home_but_never_at_the_metadata_service(
    host: str,
    port: int,
    address: str,
    passes: bool,  # noqa: FBT001
) -> None:
    assert may_connect(host, port, address, allowed=AllowList.parse("demo.local:8190")) is passes


@pytest.mark.parametrize("entry", ["http://x", "a b", "host:port", "10.0.0.0/99", "a/b"])
def test_an_entry_that_cannot_be_read_stops_the_start(entry: str) -> None:
    with pytest.raises(ValueError, match="CALLING_ALLOWED_HOSTS"):
        AllowList.parse(entry)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "gopher://a.ee/x",
        "ftp://a.ee/x",
        "//a.ee/x",
        "a.ee/x",
        "http:///x",
        "http://./x",
        "http://user:pass@a.ee/x",
        "http://a.ee@127.0.0.1/x",
        "http://a.ee:0/x",
        "http://a.ee:99999/x",
        "http://a.ee:x/x",
        "http://127.0.0.1\\@a.ee/",
        "http://a.ee/\r\nHost: b.ee",
        "http://a .ee/x",
        "http://[::1/x",
    ],
)
def test_a_url_that_is_odd_in_itself_is_refused(url: str) -> None:
    with pytest.raises(EgressRefused):
        check_url(url)


@pytest.mark.parametrize("url", ["http://a.ee", "HTTPS://a.ee:8443/x%20y?z", "http://[::1]:80/x", "https://õ.ee/x"])
def test_an_ordinary_url_passes_the_first_check(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    ("host", "port", "is_listed"),
    [
        ("api.ee", 443, True),
        ("API.ee.", 443, True),
        ("evil-api.ee", 443, False),
        ("api.ee.evil.com", 443, False),
        ("b.ee", 8443, True),
        ("b.ee", 443, False),
        ("10.1.2.3", 80, True),
        ("[::ffff:10.1.2.3]", 80, True),
        ("11.1.2.3", 80, False),
    ],
)
def test_a_list_names_hosts_as_they_are_written(host: str, port: int, is_listed: bool) -> None:  # noqa: FBT001
    assert AllowList.parse("api.ee, b.ee:8443, 10.0.0.0/8").lists(host, port) is is_listed
