"""The protocol without any input or output: lines, requests, replies, and the path of the socket."""

from __future__ import annotations

import datetime
import json
import os
import time
import uuid
from typing import Any, Callable, Dict, Generic, List, Mapping, NamedTuple, Optional, TypeVar, Union

from .errors import (
    AgdError,
    AttributeFailed,
    ConnectionLost,
    Ended,
    NoRoom,
    ProtocolFault,
    Refused,
    TimedOut,
    Unreachable,
)
from ._messages import Event, Update, content, read_event
from .values import Value, encode, timestamp

T = TypeVar("T")

#: A daemon with usual settings never sends longer lines (`output-maximum`, with escapes).
LONGEST_LINE = 256 << 20

#: The parameters of every method. A test compares this table with the daemon's own description.
PARAMETERS: Dict[str, List[str]] = {
    "hello": ["client", "as", "time"],
    "ping": [],
    "get": ["path", "paths", "presentation", "typed"],
    "set": ["path", "value", "animation", "disablesAnimations", "label", "typed", "elapsed", "once"],
    "transact": ["mutations", "animation", "disablesAnimations", "label", "typed", "elapsed", "once", "motions"],
    "do": ["path", "arguments", "animation", "disablesAnimations", "label", "typed", "elapsed", "once"],
    "onDisconnect": ["mutations", "animation", "disablesAnimations", "label", "typed"],
    "subscribe": [
        "paths", "events", "initial", "since", "maxRate", "frames", "css", "bookmarks", "typed", "writers",
        "reports",
    ],
    "unsubscribe": ["subscription"],
    "apply": ["document", "at", "mode", "layer", "if", "dryRun", "animation", "disablesAnimations", "label"],
    "remove": ["path", "layer", "animation", "disablesAnimations", "label"],
    "restore": ["path", "animation", "disablesAnimations", "label"],
    "move": ["path", "to", "index", "animation", "disablesAnimations", "label"],
    "delegate": ["path"],
    "answer": ["forward", "result", "error"],
    "describe": ["path", "depth"],
    "board": ["path", "panel"],
    "explain": ["path", "revision"],
    "history": ["path"],
    "dump": ["path", "format", "layer"],
    "layers": ["path"],
    "stats": ["format"],
    "prune": [],
    "trace": ["enable"],
    "eval": ["expression", "bindings", "at", "typed"],
    "log": ["paths", "from", "to", "by", "label", "count", "brief", "structure"],
    "series": ["from", "paths", "expression", "at", "to", "points", "changes", "typed"],
    "seek": ["time"],
    "play": ["speed"],
}  # fmt: skip

#: Requests that may be performed twice, because they change nothing, or nothing but the connection.
_HARMLESS = {
    "hello", "ping", "get", "onDisconnect", "subscribe", "unsubscribe", "describe", "board", "explain", "history",
    "dump", "layers", "stats", "eval", "log", "series",
}  # fmt: skip

#: The code of JSON-RPC for a request that the daemon understands and refuses.
_REFUSED = -32000


def find_socket(named: Optional[str] = None) -> str:
    """The caller's choice, else ``$AGD_SOCKET``, else the first of ``$XDG_RUNTIME_DIR/agd/agd.sock``
    and ``/run/agd/agd.sock`` that exists."""
    if named:
        return named
    if os.environ.get("AGD_SOCKET"):
        return os.environ["AGD_SOCKET"]
    system = "/run/agd/agd.sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    places = ([os.path.join(runtime, "agd", "agd.sock")] if runtime else []) + [system]
    return next(filter(os.path.exists, places), system)


def unreachable(path: str, error: OSError) -> Unreachable:
    return Unreachable(f"no daemon answers at {path}: {error.strerror or error}; start agd or set AGD_SOCKET")


def lost_at_once(path: str, error: ConnectionLost) -> Unreachable:
    """The error if a connection is lost before a request is sent over it."""
    return Unreachable(f"no daemon answers at {path}: {error}")


class Call(Generic[T]):
    """A request, and the function that reads its result. Parameters that are None are omitted."""

    def __init__(self, method: str, params: Mapping[str, Any], read: Callable[[Any], T]) -> None:
        self.method = method
        self.params = {name: value for name, value in params.items() if value is not None}
        self._read = read

    @property
    def has_once(self) -> bool:
        return "once" in PARAMETERS.get(self.method, [])

    @property
    def may_be_repeated(self) -> bool:
        """Whether a request is safe that may have been performed already."""
        return "once" in self.params if self.has_once else self.method in _HARMLESS

    @property
    def description(self) -> str:
        path = self.params.get("path")
        return f"'{self.method} {path}'" if isinstance(path, str) else f"'{self.method}'"

    def line(self, number: int) -> bytes:
        request = {"jsonrpc": "2.0", "id": number, "method": self.method, "params": self.params}
        return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def result(self, reply: Mapping[str, Any]) -> T:
        """
        :raises Refused: when the daemon refused the request.
        :raises ConnectionLost: when the outcome is unknown.
        """
        if "error" in reply:
            error = reply["error"]
            message, data = error.get("message", "no message"), error.get("data") or {}
            if data.get("code") == "unavailable" and message.startswith("outcome unknown"):
                raise ConnectionLost(message)
            is_of_connection = reply.get("id") is None and error.get("code") == _REFUSED
            raise (NoRoom if is_of_connection else Refused)(message, data)
        try:
            return self._read(reply["result"])
        except (KeyError, TypeError, ValueError) as error:
            raise ProtocolFault(f"a malformed answer to '{self.method}': {error!r}") from error


def parse(line: bytes) -> Dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise ProtocolFault(f"a line that is no JSON: {line[:80]!r}") from error
    if not isinstance(message, dict):
        raise ProtocolFault(f"a line that is no message: {line[:80]!r}")
    return message


# Requests.

Animation = Union[str, Mapping[str, Any]]


class Options(NamedTuple):
    """The options that every change has."""

    #: How displayed values move: text as ``easeInOut(duration: 1)``, or its JSON form.
    animation: Optional[Animation] = None
    #: Shown in events and explanations.
    label: Optional[str] = None
    #: True: the change animates nothing, even if a scene or a binding has an animation.
    disables_animations: Optional[bool] = None
    #: An identifier of the request. If this user has used it before, the request changes nothing.
    once: Optional[str] = None

    @property
    def params(self) -> Dict[str, Any]:
        return {
            "animation": self.animation,
            "label": self.label,
            "disablesAnimations": self.disables_animations,
            "once": self.once,
        }


def _revision(result: Mapping[str, Any]) -> int:
    return int(result["revision"])


def _single(result: Mapping[str, Any]) -> Value:
    found = content(result)
    if isinstance(found, AttributeFailed):
        raise found
    return found


def get(path: str, presentation: bool) -> Call[Value]:
    return Call("get", {"path": path, "presentation": presentation or None, "typed": True}, _single)


def get_all(paths: List[str], presentation: bool) -> Call[Dict[str, Value]]:
    return Call(
        "get",
        {"paths": paths, "presentation": presentation or None, "typed": True},
        lambda result: {path: content(given) for path, given in result["values"].items()},
    )


def write(method: str, mutations: List[Dict[str, Any]], options: Options) -> Call[int]:
    return Call(method, {"mutations": mutations, **options.params, "typed": True}, _revision)


def set_value(path: str, value: Value, options: Options) -> Call[int]:
    return Call("set", {"path": path, "value": encode(value), **options.params, "typed": True}, _revision)


def do(path: str, arguments: Mapping[str, Value], options: Options) -> Call[int]:
    given = {name: encode(value) for name, value in arguments.items()}
    return Call("do", {"path": path, "arguments": given or None, **options.params, "typed": True}, _revision)


class History(NamedTuple):
    """The recorded past of an attribute. Stretches of time without a number are left out."""

    #: When each stretch begins, oldest first.
    times: List[datetime.datetime]
    #: The least value in each stretch.
    least: List[float]
    #: The greatest value in each stretch.
    greatest: List[float]
    #: How long a stretch is.
    step: datetime.timedelta
    #: How much time is recorded.
    span: datetime.timedelta
    revision: int


def _history(result: Mapping[str, Any]) -> History:
    return History(
        [timestamp(text) for text in result["times"]],
        [float(number) for number in result["least"]],
        [float(number) for number in result["greatest"]],
        datetime.timedelta(seconds=result["step"]),
        datetime.timedelta(seconds=result["span"]),
        _revision(result),
    )


def history(path: str) -> Call[History]:
    return Call("history", {"path": path}, _history)


def apply(
    document: Union[str, Mapping[str, Any]], at: str, mode: str, dry_run: bool, options: Options
) -> Call[Dict[str, Any]]:
    params = {"document": document, "at": at, "mode": mode, "dryRun": dry_run or None, **options.params}
    return Call("apply", params, dict)


def remove(path: str, options: Options) -> Call[int]:
    return Call("remove", {"path": path, **options.params}, _revision)


def move(path: str, to: Optional[str], index: Optional[int], options: Options) -> Call[int]:
    return Call("move", {"path": path, "to": to, "index": index, **options.params}, _revision)


def evaluate(expression: str, bindings: Mapping[str, Value], at: Optional[str]) -> Call[Value]:
    params = {
        "expression": expression,
        "bindings": {name: encode(value) for name, value in bindings.items()} or None,
        "at": at,
        "typed": True,
    }
    return Call("eval", params, _single)


def plain(method: str, params: Mapping[str, Any]) -> Call[Any]:
    return Call(method, params, lambda result: result)


def hello(name: Optional[str], principal: Optional[str]) -> Mapping[str, str]:
    """The parameters of the first request of a connection; empty if there is none to send."""
    given = {"client": name, "as": principal}
    return {key: value for key, value in given.items() if value is not None}


# Watching.


class Since(NamedTuple):
    """The position from which a subscription continues."""

    epoch: str
    revision: int


class Subscriber:
    """A subscription that survives its connection: it makes the requests and reads the lines.

    The position in the history advances only when everything up to it has arrived.
    """

    def __init__(self, params: Mapping[str, Any], since: Optional[Since]) -> None:
        self._params = {**params, "typed": True}
        self._events: List[str] = list(params.get("events") or ["update"])
        self._epoch = ""
        self._call = plain("subscribe", {})
        self.position = since
        #: True if the daemon has accepted it once.
        self.is_known = False
        #: The present values by path, as far as updates have contained them.
        self.values: Dict[str, Value] = {}

    def line(self, number: int) -> bytes:
        since = self.position._asdict() if self.position else None
        self._call = plain("subscribe", {**self._params, "since": since})
        return self._call.line(number)

    def accept(self, reply: Mapping[str, Any]) -> None:
        result = self._call.result(reply)
        self._epoch = result["epoch"]
        self.is_known = True
        hears_updates = "update" in self._events
        if result.get("resumed") is True and hears_updates:
            return
        awaits_snapshot = hears_updates and (self._params.get("initial", True) or "resumed" in result)
        self.position = None if awaits_snapshot else Since(self._epoch, int(result["revision"]))

    def receive(self, message: Mapping[str, Any]) -> Optional[Event]:
        """
        :raises Ended: when the daemon has ended the subscription.
        """
        method, params = message.get("method", ""), message.get("params", {})
        if method == "ended":
            raise Ended(params.get("code", ""), params.get("reason", ""))
        event = read_event(method, params)
        if isinstance(event, Update):
            self._keep(event)
        is_place = method in ("update", "bookmark") or (
            "update" not in self._events and method in ("invalidate", "structure", "completion")
        )
        begins = isinstance(event, Update) and event.initial
        if is_place and (self.position or begins or method == "bookmark" or "update" not in self._events):
            self.position = Since(self._epoch, int(params["revision"]))
        return event

    def _keep(self, update: Update) -> None:
        if update.initial:
            self.values.clear()
        for path, value in update.items():
            if isinstance(value, AttributeFailed) and value.code == "removed":
                self.values.pop(path, None)
            else:
                self.values[path] = value

    def may_retry(self, error: Refused) -> bool:
        """A daemon that has just started may not have loaded the scene yet, or may be full."""
        return error.code in ("notFound", "limit", "unavailable")


class WatchState:
    """The common parts of both kinds of watch, without their connection."""

    def __init__(
        self, path: str, hello: Mapping[str, str], timeout: Optional[float], params: Mapping[str, Any],
        since: Optional[Since], on_live: Optional[Callable[[bool], None]], retry: Optional[float],
    ) -> None:  # fmt: skip
        self._path, self._hello, self._timeout = path, hello, timeout
        self._subscriber = Subscriber(params, since)
        self._first = Attempts(plain("subscribe", {"path": ", ".join(params["paths"])}), retry)
        self._on_live = on_live
        #: Events that arrived before the reply to their subscription.
        self._early: List[bytes] = []
        self._backoff = Backoff()
        self._is_closed = False

    def _pause(self, error: AgdError, was_live: bool) -> float:
        """The seconds until the next attempt to connect.

        :raises AgdError: if there is none.
        """
        if not self._subscriber.is_known:
            return self._first.pause(error)
        if isinstance(error, Refused) and not self._subscriber.may_retry(error):
            raise error
        if was_live and self._on_live and not isinstance(error, Refused):
            self._on_live(False)
        return self._backoff.pause()

    @property
    def values(self) -> Dict[str, Value]:
        """The present values by path, as far as updates have contained them."""
        return self._subscriber.values

    @property
    def position(self) -> Optional[Since]:
        """The position from which another process could continue (``since``); None before the first snapshot."""
        return self._subscriber.position


class Backoff:
    """The wait before the next attempt to connect. It doubles each time, up to a limit."""

    def __init__(self, first: float = 0.05, longest: float = 2.0) -> None:
        self._first, self._longest = first, longest
        self._next = first

    def pause(self) -> float:
        pause, self._next = self._next, min(self._next * 2, self._longest)
        return pause

    def reset(self) -> None:
        self._next = self._first


class Attempts:
    """The attempts to send one request, of which none begins after ``retry`` seconds.

    The request gets an identifier (``once``), so that the daemon performs it once although it may be
    sent several times.
    """

    def __init__(self, call: Call[Any], retry: Optional[float]) -> None:
        self._call, self._retry = call, retry
        self._begin = time.monotonic()
        self._count = 0
        self._backoff = Backoff()
        #: The error of an attempt that the daemon may have performed.
        self._unknown: Union[ConnectionLost, TimedOut, None] = None
        if retry is not None and call.has_once:
            call.params.setdefault("once", uuid.uuid4().hex)

    def pause(self, error: AgdError) -> float:
        """The seconds until the next attempt.

        :raises AgdError: if there is none.
        """
        if isinstance(error, (ConnectionLost, TimedOut)):
            self._unknown = error
        if self._retry is None or not self._may_pass(error):
            raise error
        self._count += 1
        pause = self._backoff.pause()
        waited = time.monotonic() - self._begin
        if waited + pause > self._retry:
            raise self._given_up(waited, error) from error
        return pause

    def _may_pass(self, error: AgdError) -> bool:
        if isinstance(error, (ConnectionLost, TimedOut)):
            return self._call.may_be_repeated
        if isinstance(error, AttributeFailed):
            return False
        return isinstance(error, (Unreachable, NoRoom)) or (isinstance(error, Refused) and error.code == "unavailable")

    def _given_up(self, waited: float, error: AgdError) -> AgdError:
        text = f"gave up {self._call.description} after {waited:.3g} s and {self._count} attempts: "
        if self._unknown:
            return type(self._unknown)(f"{text}{error}; an earlier attempt may have been performed")
        if isinstance(error, Refused):
            return type(error)(text + error.message, error.data)
        return type(error)(text + str(error))


def checked(retry: Optional[float]) -> Optional[float]:
    if retry is not None and not retry >= 0:
        raise ValueError(f"retry is 0 or more seconds, not {retry}")
    return retry


def waited(timeout: Optional[float], path: str, known: List[Value], is_live: bool) -> TimedOut:
    """The error of a wait whose condition did not come true."""
    if not known:
        state = "no value came"
    elif isinstance(known[-1], AttributeFailed):
        state = f"it has an error: {known[-1].message}"
    else:
        state = f"its value is {known[-1]!r}"
    return TimedOut(f"waited {timeout} s for {path}; {state}" + ("" if is_live else "; the connection is lost"))


def subscription(
    paths: List[str],
    events: Optional[List[str]],
    initial: Optional[bool],
    max_rate: Optional[float],
    frames: Optional[float],
    css: bool,
    bookmarks: bool,
    reports: bool,
) -> Dict[str, Any]:
    """The parameters of `subscribe`."""
    return {
        "paths": paths,
        "events": events,
        "initial": initial,
        "maxRate": max_rate,
        "frames": {"rate": frames} if frames is not None else None,
        "css": css or None,
        "bookmarks": bookmarks or None,
        "reports": reports or None,
    }
