"""Which proxy a gRPC channel goes through: the one that REST goes through, whose settings gRPC reads only in part.

gRPC on its own knows `https_proxy` and `no_proxy` in lower case alone, and would take what is meant for this machine to
the proxy as well. Where its own `grpc_proxy` is set, it is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from lead_router.salesforce.proxies import proxy_for

OWN = "grpc_proxy"


def proxy_options(endpoint: str, environment: Mapping[str, str], *, plain: bool) -> list[tuple[str, str | int]]:
    """The channel's options for `host:port`; `plain` endpoints are on this machine, and never behind a proxy."""
    if not plain and environment.get(OWN):
        return []
    proxy = None if plain else proxy_for(f"https://{endpoint}/")
    return [("grpc.enable_http_proxy", 0)] if proxy is None else [("grpc.http_proxy", proxy)]
