"""Places: by which addresses and names the console may be reached, and whether it may be without a login."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from lead_router.errors import Misconfigured
from lead_router.settings import PREFIX, Settings, host_and_port, secret_text

TOKEN_MIN = 16
_LOCALHOST = "localhost"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the console listens. `token` is what signs in, None: none is asked for; `names` are other hosts'."""

    host: str
    port: int
    token: str | None
    names: frozenset[str]


def place_of(settings: Settings, address: str) -> Place:
    """The place of an address such as `127.0.0.1:9467`; raises Misconfigured where it would be open to others."""
    try:
        host, port = host_and_port(address)
    except ValueError:
        raise Misconfigured(f"'{address}' is no address and port: --address 127.0.0.1:9467") from None
    token = _token(settings)
    if token is not None and len(token) < TOKEN_MIN:
        raise Misconfigured(f"{PREFIX}CONSOLE_TOKEN is shorter than {TOKEN_MIN} characters: `openssl rand -hex 24`")
    open_to = host if not is_loopback(host) else ", ".join(settings.console_hosts)
    if open_to and token is None:
        raise Misconfigured(
            f"the console would be open to whoever reaches {open_to}: set {PREFIX}CONSOLE_TOKEN_FILE to a file with a "
            f"token of {TOKEN_MIN} characters or more, or keep it on 127.0.0.1"
        )
    return Place(host, port, token, frozenset(name.lower() for name in settings.console_hosts))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address; a name other than localhost may be anybody's."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == _LOCALHOST


def is_known(host: str, names: frozenset[str]) -> bool:
    """Whether a request's Host header names this console: an address, localhost or a configured name, at any port.

    A page of elsewhere that has its own name resolve to this machine (DNS rebinding) cannot but send that name.
    """
    try:
        bare = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    try:
        ip_address(bare)
    except ValueError:
        return bare == _LOCALHOST or bare in names
    return True


def is_own(origin: str, host: str) -> bool:
    """Whether a request's Origin header is the very page set that its Host header names, port included."""
    return urlsplit(origin).netloc.lower() == host.lower()


def _token(settings: Settings) -> str | None:
    if settings.console_token_file is not None:
        return secret_text(settings.console_token_file, f"{PREFIX}CONSOLE_TOKEN_FILE")
    return settings.console_token.get_secret_value() if settings.console_token else None
