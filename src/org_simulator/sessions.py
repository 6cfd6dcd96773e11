from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._"
LENGTH = 96


class Sessions:
    """Access tokens and whose they are. A token dies by revocation, or with its user's right to log in."""

    def __init__(self, org_id: str, dice: random.Random, may_log_in: Callable[[str], bool]) -> None:
        self._org_id = org_id
        self._dice = dice
        self._may_log_in = may_log_in
        self._lock = threading.Lock()
        self._users: dict[str, str] = {}
        self.on_revoke: list[Callable[[str], None]] = []
        """Called with each token that is revoked, after it is dead."""

    def issue(self, user_id: str) -> str:
        """A new access token of this user, `<org id 15>!<random>`."""
        with self._lock:
            token = f"{self._org_id[:15]}!" + "".join(self._dice.choices(LETTERS, k=LENGTH))
            self._users[token] = user_id
        return token

    def user(self, token: str) -> str | None:
        """Whose token this is; None if it is unknown, revoked, or its user inactive or frozen."""
        with self._lock:
            user_id = self._users.get(token)
        return user_id if user_id is not None and self._may_log_in(user_id) else None

    def revoke(self, token: str) -> None:
        """End this token, if it lives."""
        with self._lock:
            known = self._users.pop(token, None) is not None
        if known:
            for listener in self.on_revoke:
                listener(token)

    def revoke_all(self) -> None:
        """End every token."""
        with self._lock:
            tokens = list(self._users)
        for token in tokens:
            self.revoke(token)
