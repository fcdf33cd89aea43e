"""Values of the graph as Python objects, by way of the protocol's typed JSON.

=============  =========================================================
in the graph   in Python
=============  =========================================================
null, bool     ``None``, ``bool``
int, uint      ``int``, :class:`UInt`
double         ``float``
string, bytes  ``str``, ``bytes``
list, map      ``list`` (also ``tuple``), ``dict``
timestamp      ``datetime.datetime`` in UTC; digits below a microsecond are dropped
duration       ``datetime.timedelta``; digits below a microsecond are dropped
color          :class:`Color`, CSS text
angle          :class:`Angle`, degrees
vector         :class:`Vector`
type           :class:`TypeName`
optional       the value, or ``None``
=============  =========================================================

The daemon converts what is written to the type of the state, where that loses nothing: an ``int``
may be written to a double, ``"2s"`` to a duration, ``"red"`` to a color.
"""

from __future__ import annotations

import base64
import datetime
import math
from typing import Any, Dict, List, Mapping, Tuple, Union

Value = Any


class UInt(int):
    """An unsigned integer of 64 bits, which the graph tells apart from an int."""


class Color(str):
    """A colour as CSS text."""


class Angle(float):
    """Degrees."""


class Vector(Tuple[float, ...]):
    """Numbers that move together."""


class TypeName(str):
    """The name of a type, as the rule function ``type`` gives it."""


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)


def _span(total_microseconds: int) -> Dict[str, Union[str, int]]:
    # Both parts have one sign, as the protocol wants it.
    sign = -1 if total_microseconds < 0 else 1
    seconds, rest = divmod(abs(total_microseconds), 1_000_000)
    return {"seconds": str(sign * seconds), "nanos": sign * rest * 1000}


def _float_text(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return repr(float(number))


def encode(value: Value) -> Dict[str, Any]:
    """Typed JSON of a Python value.

    :raises TypeError: for a type that the graph does not have.
    :raises ValueError: for an int of more than 64 bits.
    """
    if value is None:
        return {"null": None}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, UInt):
        return {"uint": str(int(value))}
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"an int of the graph has 64 bits, which {value} exceeds; agd.UInt goes up to 2**64 - 1")
        return {"int": str(value)}
    if isinstance(value, Angle):
        return {"angle": float(value)}
    if isinstance(value, float):
        return {"double": _float_text(value)}
    if isinstance(value, Color):
        return {"color": str(value)}
    if isinstance(value, TypeName):
        return {"type": str(value)}
    if isinstance(value, str):
        return {"string": value}
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": base64.b64encode(bytes(value)).decode("ascii")}
    if isinstance(value, Vector):
        return {"vector": [float(x) for x in value]}
    if isinstance(value, Mapping):
        return {"map": [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list": [encode(x) for x in value]}
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise TypeError("a datetime needs a time zone: use datetime.now(timezone.utc)")
        total = (value - _EPOCH) // _MICROSECOND
        seconds, rest = divmod(total, 1_000_000)
        return {"timestamp": {"seconds": str(seconds), "nanos": rest * 1000}}
    if isinstance(value, datetime.timedelta):
        return {"duration": _span(value // _MICROSECOND)}
    raise TypeError(f"the graph has no values of type {type(value).__name__}")


def decode(typed: Mapping[str, Any]) -> Value:
    """The Python value of typed JSON.

    :raises ValueError: for what is not typed JSON.
    """
    if len(typed) != 1:
        raise ValueError("typed JSON is an object with one member")
    ((name, content),) = typed.items()
    if name in ("null", "bool", "string"):
        return content
    if name == "int":
        return int(content)
    if name == "double":
        return float(content)
    if name == "list":
        return [decode(x) for x in content]
    if name == "map":
        return {decode(k): decode(v) for k, v in content}
    if name == "uint":
        return UInt(content)
    if name == "bytes":
        return base64.b64decode(content)
    if name == "timestamp":
        return _EPOCH + datetime.timedelta(seconds=int(content["seconds"]), microseconds=content["nanos"] // 1000)
    if name == "duration":
        # Towards zero, as the two parts have one sign.
        return datetime.timedelta(
            seconds=int(content["seconds"]), microseconds=int(content["nanos"] / 1000)
        )
    if name == "optional":
        return None if content is None else decode(content)
    if name == "color":
        return Color(content)
    if name == "angle":
        return Angle(content)
    if name == "vector":
        return Vector(_numbers(content))
    if name == "type":
        return TypeName(content)
    raise ValueError(f"typed JSON has no type '{name}'")


def timestamp(text: str) -> datetime.datetime:
    """The moment of a text in RFC 3339 in UTC, as ``2026-01-31T12:00:00.25Z``.

    Python 3.9 itself reads neither the ``Z`` nor other than three or six digits of a second."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    moment = datetime.datetime.fromisoformat(whole + "+00:00")
    return moment + datetime.timedelta(microseconds=int((fraction + "000000")[:6]))


def _numbers(content: List[Any]) -> List[float]:
    return [float(x) for x in content]
