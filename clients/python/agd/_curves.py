"""Curves of animations in closed form: springs, Bézier curves, keyframes and phases.

The daemon evaluates the same formulas (Documentation/Animation.md). Nothing is integrated.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from .errors import ProtocolFault

#: Progress or a value, and its slope per second.
Sample = Tuple[float, float]

_SETTLING_TOLERANCE = 1e-3
#: Past this exponent e^(-x) is zero in a double.
_UNDERFLOW = 746.0


class Basis(NamedTuple):
    """The two fundamental solutions: displacement = y0 p + v0 q, velocity = y0 dp + v0 dq."""

    p: float
    q: float
    dp: float
    dq: float


class Spring:
    """A damped oscillator m x'' + c x' + k (x - to) = 0."""

    def __init__(self, response: float, omega: float, stiffness: float, decay: float, discriminant: float) -> None:
        #: Seconds of an undamped period.
        self.response = response
        self.omega = omega
        #: For a mass of 1.
        self.stiffness = stiffness
        self.decay = decay
        #: omega² - decay²: positive under-damped, zero critically, negative over-damped.
        self.discriminant = discriminant
        self.frequency = math.sqrt(abs(discriminant))

    @classmethod
    def of_duration(cls, duration: float, bounce: float) -> "Spring":
        omega = 2 * math.pi / duration
        if bounce >= 0:
            return cls(duration, omega, omega**2, omega * (1 - bounce), omega**2 * bounce * (2 - bounce))
        rest = 1 + bounce
        return cls(duration, omega, omega**2, omega / rest, omega**2 * bounce * (2 + bounce) / rest**2)

    @classmethod
    def of_response(cls, response: float, fraction: float) -> "Spring":
        omega = 2 * math.pi / response
        return cls(response, omega, omega**2, fraction * omega, omega**2 * (1 - fraction) * (1 + fraction))

    @classmethod
    def physical(cls, mass: float, stiffness: float, damping: float) -> "Spring":
        # 4mk - c² would cancel near critical damping, so it is computed exactly and rounded once.
        difference = float(4 * Fraction(mass) * Fraction(stiffness) - Fraction(damping) ** 2)
        omega = math.sqrt(stiffness / mass)
        decay = damping / (2 * mass)
        return cls(2 * math.pi / omega, omega, stiffness / mass, decay, difference / (4 * mass * mass))

    def basis(self, time: float) -> Basis:
        """At ``time`` seconds after the start; accurate to a few units of the last place."""
        if time <= 0:
            return Basis(1, 0, 0, 1)
        q = self.discriminant * time * time
        if abs(q) < 0.01:
            exponent = self.decay * time
            if exponent >= _UNDERFLOW:
                return Basis(0, 0, 0, 0)
            envelope = math.exp(-exponent)
            cosine = envelope * (1 - q / 2 * (1 - q / 12 * (1 - q / 30 * (1 - q / 56 * (1 - q / 90)))))
            sine = envelope * time * (1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72 * (1 - q / 110)))))
        elif self.discriminant > 0:
            exponent = self.decay * time
            if exponent >= _UNDERFLOW or time == math.inf:
                return Basis(0, 0, 0, 0)
            envelope = math.exp(-exponent)
            # Without damping every period is the first one again.
            angle = self.frequency * (math.fmod(time, self.response) if self.decay == 0 else time)
            cosine = envelope * math.cos(angle)
            sine = envelope * math.sin(angle) / self.frequency
        else:
            slow = self.stiffness / (self.decay + self.frequency)
            if slow * time >= _UNDERFLOW:
                return Basis(0, 0, 0, 0)
            envelope = math.exp(-slow * time)
            fast = math.expm1(-2 * self.frequency * time)
            cosine = envelope * (1 + fast / 2)
            sine = -envelope * fast / (2 * self.frequency)
        d, k = self.decay, self.stiffness
        return Basis(cosine + d * sine, sine, -k * sine, cosine - d * sine)

    def state(self, start: float, to: float, velocity: float, time: float) -> Sample:
        b = self.basis(time)
        return to + ((start - to) * b.p + velocity * b.q), (start - to) * b.dp + velocity * b.dq

    def settling_time(self, displacement: float, velocity: float, tolerance: float) -> float:
        """The last moment at which the spring is farther than ``tolerance`` from its target."""

        def y(time: float) -> float:
            b = self.basis(time)
            return displacement * b.p + velocity * b.q

        if self.decay == 0:
            return math.inf if math.hypot(displacement, velocity / self.omega) > tolerance else 0.0
        slope = self.stiffness * displacement + self.decay * velocity
        first, limit = 0.0, math.inf
        if self.discriminant > 0:
            angle = math.atan2(velocity * self.frequency, slope) % math.pi
            extremum, half_period = angle / self.frequency, math.pi / self.frequency
            peak = abs(y(extremum))
            if peak > tolerance:
                # |y| shrinks by the same factor from one extremum to the next.
                passed = max(0, math.ceil(math.log(peak / tolerance) / (self.decay * half_period)) - 1)
                while passed > 0 and abs(y(extremum + passed * half_period)) <= tolerance:
                    passed -= 1
                first = extremum + passed * half_period
                limit = first + half_period
            elif abs(displacement) > tolerance:
                limit = extremum
            else:
                return 0.0
        else:
            # At most one extremum, where tanh(wt)/w (or t, when critical) equals this ratio.
            ratio = velocity / slope if slope else math.inf
            extremum = 0.0
            if 0 < ratio < math.inf:
                if self.frequency == 0:
                    extremum = ratio
                elif ratio * self.frequency < 1:
                    extremum = math.atanh(ratio * self.frequency) / self.frequency
            if extremum > 0 and abs(y(extremum)) > tolerance:
                first = extremum
            elif abs(displacement) > tolerance:
                limit = extremum if extremum > 0 else math.inf
            else:
                return 0.0
        # From `first` on |y| falls through the tolerance once before `limit`.
        step = 1 / max(self.decay, self.omega)
        low, high = first, min(limit, first + step)
        while high < limit and abs(y(high)) > tolerance:
            low, step = high, step * 2
            high = min(limit, high + step)
        while True:
            middle = (low + high) / 2
            if middle in (low, high):
                return middle
            if abs(y(middle)) > tolerance:
                low = middle
            else:
                high = middle


def settling_tolerance(distance: float, start: float, to: float, velocity: float, spring: Spring) -> float:
    """A thousandth of the distance, so that units do not matter."""
    reach = abs(velocity) / spring.omega
    resolution = max(abs(start), abs(to)) * 2.0**-48
    return max(_SETTLING_TOLERANCE * max(distance, reach / 100), resolution, 2.2250738585072014e-308)


class Bezier:
    """CSS ``cubic-bezier(x1, y1, x2, y2)``."""

    def __init__(self, x1: float, y1: float, x2: float, y2: float) -> None:
        self.points = (x1, y1, x2, y2)

    def sample(self, u: float) -> Sample:
        if u < 0:
            return 0.0, 0.0
        if u > 1:
            return 1.0, 0.0
        x1, y1, x2, y2 = self.points
        if u > 0.5:
            # From the nearer end: differences to 1 do not cancel there.
            value, slope = _first_half(1 - x2, 1 - y2, 1 - x1, 1 - y1, 1 - u)
            return 1 - value, slope
        return _first_half(x1, y1, x2, y2, u)


def _first_half(x1: float, y1: float, x2: float, y2: float, u: float) -> Sample:
    if u == 0:
        for dx, dy in ((x1, y1), (x2, y2)):
            if dx != 0:
                return 0.0, dy / dx
            if dy != 0:
                return 0.0, math.copysign(math.inf, dy)
        return 0.0, 1.0
    ax, bx, cx = 1 - 3 * (x2 - x1), 3 * (x2 - 2 * x1), 3 * x1
    ay, by, cy = 1 - 3 * (y2 - y1), 3 * (y2 - 2 * y1), 3 * y1
    s = _parameter(ax, bx, cx, u)
    dx = (3 * ax * s + 2 * bx) * s + cx
    dy = (3 * ay * s + 2 * by) * s + cy
    y = ((ay * s + by) * s + cy) * s
    if dx == 0 and dy == 0:
        dx, dy = 6 * ax * s + 2 * bx, 6 * ay * s + 2 * by
    return y, dy / dx if dx else math.copysign(math.inf, dy)


def _parameter(a: float, b: float, c: float, u: float) -> float:
    """s with x(s) = u: Newton's method inside a bracket that only shrinks."""
    low, high, s = 0.0, 1.0, u
    for _ in range(128):
        error = ((a * s + b) * s + c) * s - u
        if error == 0:
            return s
        if error < 0:
            low = s
        else:
            high = s
        slope = (3 * a * s + 2 * b) * s + c
        following = s - error / slope if slope else math.inf
        if not low < following < high:
            middle = low + (high - low) / 2
            if middle in (low, high):
                return middle
            s = middle
        elif following == s:
            return s
        else:
            s = following
    return s


def _arc(u: float) -> Sample:
    """1 - sqrt(1 - u²) without cancellation near 0."""
    root = math.sqrt(max(0.0, (1 - u) * (1 + u)))
    return u * u / (1 + root), u / root if root else math.inf


class Circular:
    """SwiftUI's circular unit curves: ``In``, ``Out`` or ``InOut``."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def sample(self, u: float) -> Sample:
        if u < 0:
            return 0.0, 0.0
        if u > 1:
            return 1.0, 0.0
        if self.kind == "In":
            return _arc(u)
        if self.kind == "Out":
            value, slope = _arc(1 - u)
            return 1 - value, slope
        value, slope = _arc(2 * u if u < 0.5 else 2 - 2 * u)
        return (value / 2 if u < 0.5 else 1 - value / 2), slope


Timing = Union[Bezier, Circular]

#: Curves of a fixed length by name.
TIMINGS: Dict[str, Timing] = {
    "linear": Bezier(0, 0, 1, 1),
    "easeIn": Bezier(0.42, 0, 1, 1),
    "easeOut": Bezier(0, 0, 0.58, 1),
    "easeInOut": Bezier(0.42, 0, 0.58, 1),
    "circularEaseIn": Circular("In"),
    "circularEaseOut": Circular("Out"),
    "circularEaseInOut": Circular("InOut"),
}

_DEFAULT_DURATION = 0.35


@dataclass
class Eased:
    """A timing function over ``length`` seconds."""

    timing: Timing
    length: float

    @property
    def logical(self) -> float:
        return self.length

    def sample(self, time: float) -> Sample:
        if time >= self.length:
            at_end = time == self.length and self.length > 0
            return 1.0, self.timing.sample(1)[1] / self.length if at_end else 0.0
        value, slope = self.timing.sample(time / self.length)
        return value, slope / self.length


@dataclass
class Sprung:
    """A spring from rest, or with a velocity in distances per second."""

    spring: Spring
    velocity: float

    @property
    def length(self) -> float:
        return self.spring.settling_time(-1, self.velocity, _SETTLING_TOLERANCE)

    @property
    def logical(self) -> float:
        return self.spring.response

    def sample(self, time: float) -> Sample:
        b = self.spring.basis(time)
        return 1 - b.p + self.velocity * b.q, self.velocity * b.dq - b.dp


@dataclass
class _Segment:
    start: float
    length: float
    origin: float
    to: float
    start_velocity: float
    end_velocity: float
    #: A timing function, a spring, "cubic" or "move".
    shape: Union[Timing, Spring, str]

    def sample(self, time: float) -> Sample:
        rise = self.to - self.origin
        if isinstance(self.shape, Spring):
            return self.shape.state(self.origin, self.to, self.start_velocity, time)
        if self.shape == "move" or self.length <= 0:
            return self.to, 0.0
        u = time / self.length
        if isinstance(self.shape, str):
            if u >= 1:
                return self.to, self.end_velocity
            m0, m1 = self.start_velocity * self.length, self.end_velocity * self.length
            c2, c3 = 3 * rise - 2 * m0 - m1, m0 + m1 - 2 * rise
            return (
                self.origin + u * (m0 + u * (c2 + u * c3)),
                (m0 + u * (2 * c2 + 3 * c3 * u)) / self.length,
            )
        progress, slope = self.shape.sample(u)
        return self.to if progress == 1 else self.origin + rise * progress, rise * slope / self.length


class Keyframes:
    """Keyframes on a time axis, from progress 0."""

    def __init__(self, frames: Sequence[Any], initial: float = 0.0) -> None:
        self.segments: List[_Segment] = []
        self.length = 0.0
        self._value, self._velocity = initial, 0.0
        self._initial = initial
        parsed = [_keyframe(frame) for frame in frames]
        for index, (kind, given) in enumerate(parsed):
            self._add(kind, given, parsed[index + 1] if index + 1 < len(parsed) else None)

    @property
    def logical(self) -> float:
        return self.length

    def _add(self, kind: str, given: Dict[str, Any], following: Optional[Tuple[str, Dict[str, Any]]]) -> None:
        to = float(given["to"])
        start, end, length = 0.0, 0.0, 0.0
        shape: Union[Timing, Spring, str] = kind
        if kind == "linear":
            length = float(given.get("duration", _DEFAULT_DURATION))
            shape = _timing(given.get("timingCurve", "linear"))
            start, end = _end_velocities(shape, self._value, to, length)
        elif kind == "spring":
            shape = _spring_of(given.get("spring", "default"))[0]
            start = float(given.get("startVelocity", self._velocity))
            length = float(given["duration"]) if "duration" in given else self._settling(shape, to, start)
            end = shape.state(self._value, to, start, length)[1]
        elif kind == "cubic":
            length = float(given.get("duration", _DEFAULT_DURATION))
            start = float(given.get("startVelocity", self._velocity))
            end = float(given["endVelocity"]) if "endVelocity" in given else self._tangent(to, length, following)
        self.segments.append(_Segment(self.length, length, self._value, to, start, end, shape))
        self.length += length
        self._value, self._velocity = to, end

    def _settling(self, spring: Spring, to: float, velocity: float) -> float:
        distance = max(abs(to - self._value), abs(velocity) / spring.omega)
        if distance == 0:
            return 0.0
        time = spring.settling_time(self._value - to, velocity, _SETTLING_TOLERANCE * distance)
        return time if time < math.inf else spring.response

    def _tangent(self, to: float, length: float, following: Optional[Tuple[str, Dict[str, Any]]]) -> float:
        """The velocity at the end of a cubic keyframe that names none."""
        if following is None or following[0] == "move":
            return 0.0
        kind, given = following
        after = float(given["to"])
        if kind == "linear":
            next_length = float(given.get("duration", _DEFAULT_DURATION))
            return _end_velocities(_timing(given.get("timingCurve", "linear")), to, after, next_length)[0]
        if "startVelocity" in given:
            return float(given["startVelocity"])
        if kind == "spring" and "duration" not in given:
            next_length = _spring_of(given.get("spring", "default"))[0].settling_time(-1, 0, _SETTLING_TOLERANCE)
        else:
            next_length = float(given.get("duration", _DEFAULT_DURATION))
        return (after - self._value) / (length + next_length) if length + next_length > 0 else 0.0

    def sample(self, time: float) -> Sample:
        if time < 0 or not self.segments:
            return self._initial, 0.0
        if time > self.length:
            last = self.segments[-1]
            return (last.sample(last.length)[0] if isinstance(last.shape, Spring) else last.to), 0.0
        index = bisect_right([s.start for s in self.segments], time) - 1
        segment = self.segments[index]
        return segment.sample(time - segment.start)


def _end_velocities(timing: Timing, start: float, to: float, length: float) -> Sample:
    if length <= 0 or start == to:
        return 0.0, 0.0
    slopes = (timing.sample(0)[1], timing.sample(1)[1])
    first, last = (s * (to - start) / length if math.isfinite(s) else 0.0 for s in slopes)
    return first, last


@dataclass
class _Leg:
    start: float
    origin: float
    to: float
    velocity: float
    is_joined: bool
    plan: "Plan"

    def sample(self, time: float) -> Sample:
        w = self.plan.weights(time, self.is_joined)
        rise = self.to - self.origin
        return self.origin + (rise * w.p + self.velocity * w.q), rise * w.dp + self.velocity * w.dq

    @property
    def settling(self) -> float:
        spring = self.plan.free_spring
        if spring is None:
            return self.plan.length
        velocity = self.velocity / self.plan.speed
        tolerance = settling_tolerance(abs(self.to - self.origin), self.origin, self.to, velocity, spring)
        return spring.settling_time(self.origin - self.to, velocity, tolerance) / self.plan.speed


class Phases:
    """Phases on a time axis. Each takes over value and velocity of the one before."""

    def __init__(self, phases: Sequence[Any]) -> None:
        self._legs: List[_Leg] = []
        self.logical = self.length = 0.0
        clock = end = value = velocity = 0.0
        for phase in phases:
            given = phase["phase"]
            given = given if isinstance(given, Mapping) else {"to": given}
            plan = Plan.of(given.get("animation", "default"))
            leg = _Leg(clock, value, float(given["to"]), velocity, bool(self._legs), plan)
            self._legs.append(leg)
            end = clock + leg.settling
            clock += plan.logical
            value, velocity = leg.sample(plan.logical)
        self.logical = clock
        self.length = max(end, clock)

    def sample(self, time: float) -> Sample:
        if time < 0 or not self._legs:
            return 0.0, 0.0
        leg = self._legs[bisect_right([x.start for x in self._legs], time) - 1]
        if leg is self._legs[-1] and time >= self.length:
            return leg.to, 0.0
        return leg.sample(time - leg.start)


Base = Union[Eased, Sprung, Keyframes, Phases]


class Plan:
    """A curve with its modifiers, ready to be sampled."""

    logical: float
    length: float

    def __init__(self, curve: Any, modifiers: Sequence[Tuple[str, Dict[str, Any]]]) -> None:
        self.free_spring: Optional[Spring] = None
        self.speed = 1.0
        is_free = all(
            name in ("speed", "logicallyComplete", "retarget") or (name == "delay" and given["seconds"] == 0)
            for name, given in modifiers
        )
        self._base = _base(curve, keeps_velocity=not is_free)
        self.length = self._base.length
        self.logical = self._base.logical
        #: Over this time an inherited velocity fades where the curve cannot carry one.
        self.fade = self.length
        #: Outermost, which is the last written, first.
        self._steps: List[Tuple[str, Dict[str, Any]]] = []
        for name, given in modifiers:
            self._modify(name, given)
        self._steps.reverse()
        self._initial_slope = 0.0
        if is_free and isinstance(self._base, Sprung):
            self.free_spring = self._base.spring
        else:
            self._initial_slope = self.progress(0)[1]

    def _modify(self, name: str, given: Dict[str, Any]) -> None:
        if name == "delay":
            seconds = given["seconds"]
            if seconds == 0:
                return
            self.length += seconds
            self.logical += seconds
            self.fade = seconds
        elif name == "speed":
            factor = given["factor"]
            self.speed *= factor
            self.length /= factor
            self.logical /= factor
            self.fade /= factor
        elif name in ("repeatCount", "repeatForever"):
            every = given.get("every")
            length = self.length if every is None else float(every)
            count = float(given["count"]) if name == "repeatCount" else math.inf
            given = {"count": count, "pass": length, "autoreverse": _autoreverse(given.get("autoreverses", True))}
            name = "passes"
            self.logical = (count - 1) * length + min(self.logical, length) if count < math.inf else math.inf
            self.length = count * length
            self.fade = min(self.fade, length)
        elif name == "logicallyComplete":
            self.logical = given["after"]
            return
        else:
            return
        self._steps.append((name, given))

    @classmethod
    def of(cls, animation: Any) -> "Plan":
        """The plan of an animation in JSON form."""
        if isinstance(animation, Mapping) and "curve" in animation:
            modifiers = [_call(m) for m in animation.get("modifiers") or []]
            return cls(animation["curve"], [(name, _named(name, given)) for name, given in modifiers])
        return cls(animation, [])

    def progress(self, time: float) -> Sample:
        if time < 0:
            return 0.0, 0.0
        scale, mirrored = 1.0, False
        for name, given in self._steps:
            if name == "delay":
                time -= given["seconds"]
                if time < 0:
                    return (1.0 if mirrored else 0.0), 0.0
            elif name == "speed":
                time *= given["factor"]
                scale *= given["factor"]
            else:
                length = given["pass"]
                if not time < given["count"] * length:
                    return (0.0 if mirrored else 1.0), 0.0
                if length == math.inf:
                    continue
                rest = math.fmod(time, length)
                number = round((time - rest) / length)
                time = rest
                if number % 2 and given["autoreverse"] == "mirror":
                    mirrored = not mirrored
                elif number % 2 and given["autoreverse"] == "reverse":
                    time = length - time
                    scale = -scale
        value, slope = self._base.sample(time)
        return (1 - value, -slope * scale) if mirrored else (value, slope * scale)

    def weights(self, time: float, is_joined: bool) -> Basis:
        """f, g and their slopes: value = from + (to - from) f + velocity g, as p, q, dp, dq."""
        if self.free_spring is not None:
            b = self.free_spring.basis(time * self.speed)
            return Basis(1 - b.p, b.q / self.speed, -b.dp * self.speed, b.dq)
        f, df = self.progress(time)
        if not is_joined or time >= self.fade:
            return Basis(f, 0.0, df, 0.0)
        if time <= 0:
            return Basis(0.0, 0.0, 0.0, 1.0)
        left = 1 - time / self.fade
        g = time * left * left
        dg = left * (1 - 3 * time / self.fade)
        if math.isfinite(self._initial_slope):
            return Basis(f - self._initial_slope * g, g, df - self._initial_slope * dg, dg)
        # No finite correction undoes a vertical start: the curve is eased in.
        ramp = 1 - left * left
        return Basis(f * ramp, g, df * ramp + f * 2 * left / self.fade, dg)


def _autoreverse(given: Any) -> str:
    if isinstance(given, bool):
        return "mirror" if given else "none"
    return str(given)


#: The name of the argument that may stand without its name.
_UNNAMED = {"delay": "seconds", "speed": "factor", "repeatCount": "count", "retarget": "mode"}


def _call(value: Any) -> Tuple[str, Any]:
    if isinstance(value, str):
        return value, {}
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, given),) = value.items()
        return name, {} if given is None or given is True else given
    raise ProtocolFault(f"not a curve or modifier: {value!r}")


def _named(name: str, given: Any) -> Dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    return {_UNNAMED.get(name, "to"): given}


def _keyframe(value: Any) -> Tuple[str, Dict[str, Any]]:
    name, given = _call(value)
    if name not in ("linear", "cubic", "spring", "move"):
        raise ProtocolFault(f"unknown keyframe '{name}'")
    return name, _named(name, given)


def _timing(value: Any) -> Timing:
    name, given = _call(value)
    if name == "timingCurve":
        return Bezier(given["x1"], given["y1"], given["x2"], given["y2"])
    if name in TIMINGS:
        return TIMINGS[name]
    raise ProtocolFault(f"unknown timing curve '{name}'")


#: Bounce of the spring presets, and their usual duration.
_PRESETS = {
    "default": (0.5, 0.0),
    "smooth": (0.5, 0.0),
    "snappy": (0.5, 0.15),
    "bouncy": (0.5, 0.3),
    "spring": (0.5, 0.0),
    "interactiveSpring": (0.15, 0.15),
    "interpolatingSpring": (0.5, 0.0),
}


def _spring_of(value: Any) -> Tuple[Spring, float]:
    """A spring, and the velocity with which it starts from rest."""
    name, given = _call(value)
    if name not in _PRESETS:
        raise ProtocolFault(f"unknown spring '{name}'")
    duration, bounce = _PRESETS[name]
    velocity = float(given.get("initialVelocity", 0))
    if "stiffness" in given:
        return Spring.physical(given.get("mass", 1), given["stiffness"], given["damping"]), velocity
    is_response = "response" in given or "dampingFraction" in given
    by_default = name == "interactiveSpring" and "duration" not in given and "extraBounce" not in given
    if is_response or by_default or (name == "spring" and "duration" not in given and "bounce" not in given):
        response, fraction = (0.15, 0.86) if name == "interactiveSpring" else (0.5, 0.825)
        spring = Spring.of_response(given.get("response", response), given.get("dampingFraction", fraction))
        return spring, velocity
    extra = given.get("extraBounce", given.get("bounce", 0))
    return Spring.of_duration(given.get("duration", duration), bounce + extra), velocity


def _base(curve: Any, keeps_velocity: bool) -> Base:
    name, given = _call(curve)
    if name == "keyframes":
        return Keyframes(given)
    if name == "phases":
        return Phases(given)
    if name == "timingCurve" or name in TIMINGS:
        return Eased(_timing(curve), float(_named(name, given).get("duration", _DEFAULT_DURATION)))
    spring, velocity = _spring_of(curve)
    return Sprung(spring, velocity if keeps_velocity else 0.0)
