"""What can go wrong, as exceptions."""

from __future__ import annotations

from typing import Any, Mapping, Optional


class AgdError(Exception):
    """The base of everything that this package raises."""


class Refused(AgdError):
    """The daemon refused a request. Nothing has changed.

    ``code`` is a name that never changes its meaning: ``notFound``, ``typeMismatch``, ``denied``,
    ``conflict``, ``limit`` and the others of Protocol.md. ``hint`` says what to do, where the daemon
    knows. ``path``, ``rule``, ``line`` and ``column`` name the place.
    """

    def __init__(self, message: str, data: Optional[Mapping[str, Any]] = None) -> None:
        data = data or {}
        self.data = data
        self.message = message
        self.code: str = data.get("code", "invalid")
        self.path: Optional[str] = data.get("path")
        self.rule: Optional[str] = data.get("rule")
        self.line: Optional[int] = data.get("line")
        self.column: Optional[int] = data.get("column")
        self.hint: Optional[str] = data.get("hint")
        super().__init__(f"{message} ({self.code}); {self.hint}" if self.hint else f"{message} ({self.code})")


class NoRoom(Refused):
    """The daemon takes no more clients now."""


class AttributeFailed(Refused):
    """The attribute has an error in place of a value, as the result of its rule.

    ``get`` of one path raises it. Among several values, and in updates, it stands as a value.
    """

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error.get("message", "no message"), error)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AttributeFailed) and (self.code, self.message) == (other.code, other.message)

    def __hash__(self) -> int:
        return hash((self.code, self.message))


class Unreachable(AgdError):
    """No daemon listens at the socket. The request was not sent."""


class ConnectionLost(AgdError):
    """The connection ended during the request, or its outcome is unknown. The daemon may have performed it."""


class TimedOut(AgdError):
    """No answer came in time. The connection is closed; the daemon may have performed the request.

    :meth:`Client.wait_for` raises it when its condition did not come true in time."""


class Ended(AgdError):
    """The daemon ended the subscription: ``removed``, ``denied`` or ``limit``."""

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(f"{reason} ({code})")


class ProtocolFault(AgdError):
    """The peer does not speak agd's protocol."""
