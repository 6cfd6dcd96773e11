"""The configuration in force: loaded whole, replaced whole, read by every loop."""

from __future__ import annotations

import threading

from lead_router.core.model import Configuration


class Current:
    """Holds one configuration; a reader sees the old one or the new one, never a mixture."""

    def __init__(self, configuration: Configuration) -> None:
        self._lock = threading.Lock()
        self._configuration = configuration

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
