"""Which proxy a gRPC channel goes through: the one that REST goes through, whose settings gRPC reads only in part.

gRPC on its own knows `https_proxy` and `no_proxy` in lower case alone, and would take what is meant for this machine to
the proxy as well. Where its own `grpc_proxy` is set, it is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from requests.utils import get_environ_proxies, select_proxy

OWN = "grpc_proxy"


def proxy_options(endpoint: str, environment: Mapping[str, str], *, plain: bool) -> list[tuple[str, str | int]]:
    """The channel's options for `host:port`; `plain` endpoints are on this machine, and never behind a proxy."""
    if not plain and environment.get(OWN):
        return []
    url = f"https://{endpoint}/"
    proxy = None if plain else select_proxy(url, get_environ_proxies(url))
    if proxy is None:
        return [("grpc.enable_http_proxy", 0)]
    return [("grpc.http_proxy", proxy if "://" in proxy else f"http://{proxy}")]
