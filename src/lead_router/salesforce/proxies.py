"""Which proxy a connection goes through: one answer for REST and both streams, by the settings that REST knows."""

from __future__ import annotations

from requests.utils import get_environ_proxies, select_proxy


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for a URL, with its scheme; None where it names none or spares the host."""
    proxy = select_proxy(url, get_environ_proxies(url))
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"
