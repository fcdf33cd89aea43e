"""Events of subscriptions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, ItemsView, List, Mapping, Optional, Tuple, Union

from .errors import AttributeFailed, ProtocolFault
from .timeline import Timeline
from .values import Value, decode


@dataclass(frozen=True)
class Change:
    """The change of an attribute. ``value`` is an :class:`AttributeFailed` if its rule failed, or if the
    attribute was removed (``code`` is then ``removed``)."""

    path: str
    value: Value
    timeline: Optional[Timeline] = None
    #: With ``reports``: when the value was last reported, in seconds of the monotonic clock.
    reported: Optional[float] = None

    def displayed(self, at: Optional[float] = None) -> Value:
        """The value displayed at a moment of the monotonic clock; by default now."""
        return self.value if self.timeline is None else self.timeline.value(at, like=self.value)


@dataclass(frozen=True)
class Update:
    """The changes of one transaction, or of several that were merged. Never a part of one."""

    revision: int
    #: By path, each attribute once.
    details: Mapping[str, Change]
    #: True if it replaces all known values: the first update, and the first after a break too long to resume.
    initial: bool = False
    label: Optional[str] = None
    #: The first revision of the update, if it spans several.
    since: Optional[int] = None

    @property
    def changes(self) -> Dict[str, Value]:
        """The new values by path."""
        return {path: change.value for path, change in self.details.items()}

    def items(self) -> ItemsView[str, Value]:
        return self.changes.items()


@dataclass(frozen=True)
class Invalidation:
    """Paths that may have changed. A path is not named again until it is read with ``get``."""

    revision: int
    paths: List[str]


@dataclass(frozen=True)
class Structure:
    """Nodes and attributes that were added, removed or moved."""

    revision: int
    added: List[str]
    removed: List[str]
    moved: List[str]
    #: From 0 to 1 while they come and go; None if they do at once.
    timeline: Optional[Timeline] = None
    #: ``{"insertion": […], "removal": […]}`` by the paths of nodes with a transition.
    transitions: Dict[str, Dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Frames:
    """Displayed values of moving attributes at one moment of the daemon's monotonic clock, as JSON."""

    time: float
    values: Dict[str, Any]


@dataclass(frozen=True)
class Completion:
    """Motions that ended: ``logical``, ``removed`` or ``replaced``."""

    revision: int
    transaction: int
    phase: str
    paths: List[str] = field(default_factory=list)


@dataclass(frozen=True)
class Bookmark:
    """Everything up to the revision has been sent."""

    epoch: str
    revision: int


Event = Union[Update, Invalidation, Structure, Frames, Completion, Bookmark]


def content(given: Mapping[str, Any]) -> Value:
    """A value, or the failure instead of it."""
    if "error" in given:
        return AttributeFailed(given["error"])
    return decode(given["value"])


def _timeline(given: Mapping[str, Any]) -> Optional[Timeline]:
    return Timeline(given["timeline"]) if given.get("timeline") else None


def _change(given: Mapping[str, Any]) -> Tuple[str, Change]:
    return given["path"], Change(given["path"], content(given), _timeline(given), given.get("reported"))


_READERS: Dict[str, Callable[[Mapping[str, Any]], Event]] = {
    "update": lambda p: Update(
        p["revision"], dict(map(_change, p["changes"])), p.get("initial", False), p.get("label"), p.get("from")
    ),
    "invalidate": lambda p: Invalidation(p["revision"], p["paths"]),
    "structure": lambda p: Structure(
        p["revision"], p["added"], p["removed"], p["moved"], _timeline(p), p.get("transitions", {})
    ),
    "frames": lambda p: Frames(p["time"], dict(p["values"])),
    "completion": lambda p: Completion(p["revision"], p["transaction"], p["phase"], p["paths"]),
    "bookmark": lambda p: Bookmark(p["epoch"], p["revision"]),
}


def read_event(method: str, params: Mapping[str, Any]) -> Optional[Event]:
    """None for an event that this version does not know."""
    reader = _READERS.get(method)
    if reader is None:
        return None
    try:
        return reader(params)
    except (KeyError, TypeError, ValueError) as error:
        raise ProtocolFault(f"a malformed event '{method}': {error!r}") from error
