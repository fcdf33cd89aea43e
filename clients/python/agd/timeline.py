"""Timelines: how a displayed value moves to the new one."""

from __future__ import annotations

import datetime
import math
import time as _time
from typing import Any, Callable, List, Mapping, Optional, Union

from ._curves import Plan
from .errors import ProtocolFault
from .values import Angle, Color, UInt, Value, Vector


class Timeline:
    """The complete motion of one value: a pure function of time.

    Times are seconds on the daemon's monotonic clock. On the machine of the daemon that is
    ``time.monotonic()``, which is also the default. Nothing is integrated: springs, Bézier curves,
    keyframes and phases are evaluated in closed form.
    """

    def __init__(self, event: Mapping[str, Any]) -> None:
        """
        :param event: the member ``timeline`` of a change in an ``update`` event.
        :raises ProtocolFault: for a curve that this version does not know.
        """
        try:
            self._read(event)
        except (KeyError, TypeError, ValueError) as error:
            raise ProtocolFault(f"not a timeline: {error!r}") from error

    def _read(self, event: Mapping[str, Any]) -> None:
        #: The timeline's number; None for one below another.
        self.id: Optional[int] = event.get("id")
        #: The number of the timeline that ran on the same value before.
        self.replaces: Optional[int] = event.get("replaces")
        self.start = float(event["start"])
        #: ``scalar``, ``vector``, ``oklab``, ``map``, ``angle`` or ``ns``.
        self.space: str = event["space"]
        #: ``replace``, ``c1``, ``add`` or ``chain``.
        self.mode: str = event["mode"]
        self._keys: Optional[List[str]] = list(event["to"]) if self.space == "map" else None
        self._from = self._components(event["from"])
        self._to = self._components(event["to"])
        self._velocity = self._components(event["velocity"])
        #: Whole nanoseconds since 1970 do not fit into a double: the way is counted from the target.
        self._origin = 0
        if self.space == "ns":
            self._origin = int(event["to"])
            self._from, self._to = [float(int(event["from"]) - self._origin)], [0.0]
        self._plan = _plan(event)
        logical, settle = event["logical"], event["settle"]
        #: Seconds after ``start`` until it counts as complete; infinite if never.
        self.logical: float = math.inf if logical is None else float(logical)
        #: Seconds after ``start`` until it no longer moves; infinite if never.
        self.settle: float = math.inf if settle is None else float(settle)
        self.under: Optional[Timeline] = Timeline(event["under"]) if event.get("under") else None

    def _components(self, value: Any) -> List[float]:
        if self._keys is not None:
            return [float(value[key]) for key in self._keys]
        return [float(x) for x in value] if isinstance(value, list) else [float(value)]

    @property
    def end(self) -> float:
        """The moment from which on the value is the target."""
        return self.start + self.settle

    def is_finished(self, at: Optional[float] = None) -> bool:
        return _now(at) >= self.end

    def components(self, at: Optional[float] = None) -> List[float]:
        """What is displayed, as numbers: of colours Oklab's L, a and b, each times alpha, and alpha;
        of ``ns`` the nanoseconds still to go, below zero before the target."""
        at = _now(at)
        return list(self._to) if at >= self.end else self._state(at, 0)

    def velocities(self, at: Optional[float] = None) -> List[float]:
        """Units per second; zero from the end on, and where a curve is vertical."""
        at = _now(at)
        found = [0.0] * len(self._to) if at >= self.end else self._state(at, 1)
        return found if all(map(math.isfinite, found)) else [0.0] * len(self._to)

    def _state(self, at: float, order: int) -> List[float]:
        w = self._plan.weights(at - self.start, is_joined=self.mode == "c1")
        f, g = (w.p, w.q) if order == 0 else (w.dp, w.dq)
        if self.under is None or self.mode not in ("add", "chain"):
            base = self._from if order == 0 else [0.0] * len(self._to)
            moves = zip(base, self._from, self._to, self._velocity)
            return [b + ((t - s) * f + v * g) for b, s, t, v in moves]
        below = self.under._state(at, order)
        if self.mode == "add":
            return [u + (t - s) * f for u, s, t in zip(below, self.under._to, self._to)]
        if order == 0:
            return [u + (t - u) * f for u, t in zip(below, self._to)]
        values = self.under._state(at, 0)
        return [dv * (1 - w.p) + (t - u) * w.dp for dv, u, t in zip(below, values, self._to)]

    def value(self, at: Optional[float] = None, like: Value = None) -> Value:
        """The displayed value.

        :param like: the value that it goes to, which decides the type: whole numbers are rounded,
            times become ``datetime`` and ``timedelta``. Left out, numbers are floats.

        Colours come as CSS ``oklab()``, in which browsers mix as the daemon does.
        """
        at = _now(at)
        if at >= self.end and like is not None:
            return like
        parts = self.components(at)
        if self.space == "ns":
            way = _whole(parts[0])
            if isinstance(like, datetime.datetime):
                return like + datetime.timedelta(microseconds=way / 1000)
            if isinstance(like, datetime.timedelta):
                return like + datetime.timedelta(microseconds=way / 1000)
            return self._origin + way
        if self.space == "oklab":
            return _oklab(parts)
        if self.space == "vector":
            return Vector(parts)
        if self._keys is not None:
            targets = like if isinstance(like, Mapping) else {}
            return {k: _number(x, targets.get(k), 0) for k, x in zip(self._keys, parts)}
        if self.space == "angle":
            return Angle(parts[0])
        return _number(parts[0], like, like if isinstance(like, int) else 0)


def _now(at: Optional[float]) -> float:
    return _time.monotonic() if at is None else at


def _plan(event: Mapping[str, Any]) -> Plan:
    modifiers: List[Any] = list(event.get("modifiers") or [])
    if not modifiers:
        # In the order of writing: a curve played at a speed, then repeated, then delayed.
        if event["speed"] != 1:
            modifiers.append({"speed": event["speed"]})
        repeat = event["repeat"]
        if repeat is not None:
            given = {"autoreverses": repeat["autoreverse"], "every": repeat["pass"]}
            if repeat["count"] is None:
                modifiers.append({"repeatForever": given})
            else:
                modifiers.append({"repeatCount": {"count": repeat["count"], **given}})
        if event["delay"] != 0:
            modifiers.append({"delay": event["delay"]})
    return Plan.of({"curve": event["curve"], "modifiers": modifiers})


def _whole(distance: float) -> int:
    """The nearest whole number; from the middle between two the one nearer to zero."""
    whole = math.trunc(distance)
    rest = abs(distance - whole)
    return whole + (0 if rest <= 0.5 else 1 if distance > 0 else -1)


def _number(displayed: float, like: Value, origin: int) -> Union[int, float]:
    if isinstance(like, bool) or not isinstance(like, int):
        return displayed
    # Rounded towards the target, so that progress is rounded up.
    rounded = origin + _whole(displayed - origin)
    return UInt(max(0, rounded)) if isinstance(like, UInt) else rounded


def _oklab(parts: List[float]) -> Color:
    alpha = parts[3]
    straight = [x / alpha for x in parts[:3]] if alpha > 0 else [0.0, 0.0, 0.0]
    text: Callable[[float], str] = lambda x: format(x, ".7f")  # noqa: E731
    axes = " ".join(map(text, straight))
    return Color(f"oklab({axes})" if alpha == 1 else f"oklab({axes} / {text(max(0.0, min(alpha, 1.0)))})")
