"""The configuration in force: loaded whole, replaced whole, read by every loop."""

from __future__ import annotations

import threading

from lead_router.core.model import Configuration


class Current:
    """Holds one configuration; a reader sees the old one or the new one, never a mixture."""

    def __init__(self, configuration: Configuration) -> None:
        self._lock = threading.Lock()
        self._configuration = configuration
        self._outdated: str | None = None

    def get(self) -> Configuration:
        """The configuration in force."""
        with self._lock:
            return self._configuration

    def replace(self, configuration: Configuration) -> bool:
        """Put a configuration in force; True if it differs from the former one."""
        with self._lock:
            changed = configuration != self._configuration
            self._configuration = configuration
            return changed

    def outdate(self, reason: str) -> None:
        """Something changed in the org: the configuration is to be read again."""
        with self._lock:
            self._outdated = self._outdated or reason

    def outdated(self) -> str | None:
        """Why the configuration is to be read again, if it is."""
        with self._lock:
            return self._outdated

    def reading(self) -> None:
        """A read begins: what outdates the configuration from now on needs another one."""
        with self._lock:
            self._outdated = None
