"""The blocking client."""

from __future__ import annotations

import socket
import threading
import time
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Literal, Mapping, Optional, Type, TypeVar, Union, cast, overload

from . import _wire as wire
from ._messages import Event, Update
from ._operations import LastWill, Transaction
from ._wire import Animation, Call, History, Options, Since
from .errors import (
    AgdError,
    AttributeFailed,
    ConnectionLost,
    NoRoom,
    ProtocolFault,
    Refused,
    TimedOut,
    Unreachable,
)
from .values import Value

T = TypeVar("T")
#: The events of a watch: updates alone, unless others are asked for.
E = TypeVar("E", bound=Event, covariant=True)


class _Line:
    """One connection, a line at a time."""

    def __init__(self, path: str, timeout: Optional[float]) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._buffer = bytearray()
        self._searched = 0
        try:
            self._socket.settimeout(timeout)
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise wire.unreachable(path, error) from None

    def is_over(self) -> bool:
        """Whether the daemon has closed it, as far as is known."""
        self._socket.settimeout(0)
        try:
            return self._socket.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def send(self, line: bytes, timeout: Optional[float]) -> None:
        self._socket.settimeout(timeout)
        try:
            self._socket.sendall(line)
        except socket.timeout:
            raise TimedOut(f"the daemon took no request within {timeout} s") from None
        except OSError as error:
            raise ConnectionLost(f"the daemon closed the connection: {error.strerror}") from None

    def receive(self, timeout: Optional[float]) -> bytes:
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._searched = 0
                return line
            self._searched = len(self._buffer)
            if self._searched > wire.LONGEST_LINE:
                raise ProtocolFault("a line without end")
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise TimedOut(f"the daemon did not answer within {timeout} s")
            self._socket.settimeout(left)
            try:
                part = self._socket.recv(1 << 16)
            except socket.timeout:
                continue
            except OSError as error:
                raise ConnectionLost(f"the connection broke: {error.strerror}") from None
            if not part:
                raise ConnectionLost("the daemon closed the connection")
            self._buffer += part

    def close(self) -> None:
        self._socket.close()


class Client:
    """A connection to the daemon, made with the first request and made again after a loss.

    Any number of threads may use one client; their requests are sent in turn. If the connection
    breaks before the answer to a request arrives, the request raises :class:`ConnectionLost`. Without
    ``retry`` it is not repeated, because the daemon may have performed it.

    With ``retry``, the client waits for a daemon that is not there, and repeats what was under way
    when the connection broke. ``set``, ``add``, ``toggle``, ``transact`` and ``do`` carry an identifier
    (``once``), so that the daemon performs them once. ``apply``, ``remove``, ``move`` and ``prune`` are
    repeated only if they were not sent.
    """

    def __init__(
        self, path: Optional[str] = None, *, name: Optional[str] = None, principal: Optional[str] = None,
        timeout: Optional[float] = 10.0, retry: Optional[float] = None,
    ) -> None:  # fmt: skip
        """
        :param path: the path of the socket; by default ``$AGD_SOCKET`` or the usual paths.
        :param name: the daemon's name for this client in explanations.
        :param principal: for whom the client acts; this needs the right admin.
        :param timeout: maximum seconds for an answer; None waits without limit.
        :param retry: seconds during which requests are repeated while no daemon answers; None repeats nothing.
        """
        self.path = wire.find_socket(path)
        self._hello = wire.hello(name, principal)
        self._timeout = timeout
        self._retry = wire.checked(retry)
        self._line: Optional[_Line] = None
        self._lock = threading.Lock()
        #: Notified by :meth:`close`, for requests that wait to be repeated.
        self._closing = threading.Condition(self._lock)
        self._closed = 0
        self._number = 0
        self._farewells: List[Call[int]] = []

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection. The daemon then commits the changes of :meth:`on_disconnect`."""
        with self._lock:
            self._farewells.clear()
            self._disconnect()
            self._closed += 1
            self._closing.notify_all()

    def _disconnect(self) -> None:
        if self._line:
            self._line.close()
            self._line = None

    def _perform(self, call: Call[T]) -> T:
        attempts = wire.Attempts(call, self._retry)
        with self._lock:
            closed = self._closed
            while True:
                try:
                    return self._attempt(call)
                except AgdError as error:
                    pause = attempts.pause(error)
                # Meanwhile, other threads may use or close the client.
                if self._closing.wait_for(lambda: self._closed != closed, pause):
                    raise ConnectionLost("the client was closed")

    def _attempt(self, call: Call[T]) -> T:
        if self._line and self._line.is_over():
            self._disconnect()
        try:
            return self._exchange(self._line or self._connect(), call)
        except NoRoom:
            self._disconnect()
            raise
        except (Refused, TypeError, ValueError):
            raise
        except BaseException:
            # Also after Ctrl-C: a half of the request may be sent, or a half of the answer be read.
            self._disconnect()
            raise

    def _leave(self, call: Call[int]) -> Optional[int]:
        with self._lock:
            try:
                revision: Optional[int] = self._attempt(call)
            except (Unreachable, ConnectionLost, TimedOut, NoRoom):
                # The next connection begins with it.
                revision = None
            self._farewells.append(call)
            return revision

    def _connect(self) -> _Line:
        line = _Line(self.path, self._timeout)
        refusals: List[Refused] = []
        try:
            if self._hello:
                self._exchange(line, wire.plain("hello", self._hello))
            for farewell in list(self._farewells):
                try:
                    self._exchange(line, farewell)
                except NoRoom:
                    raise
                except Refused as error:
                    # It will not be asked for again, so that the program can mend what is missing.
                    self._farewells.remove(farewell)
                    refusals.append(error)
        except ConnectionLost as error:
            line.close()
            raise wire.lost_at_once(self.path, error) from None
        except BaseException:
            # Requests must not go over a connection that may not act for the principal.
            line.close()
            raise
        self._line = line
        if refusals:
            raise refusals[0]
        return line

    def _exchange(self, line: _Line, call: Call[T]) -> T:
        self._number += 1
        line.send(call.line(self._number), self._timeout)
        while True:
            reply = wire.parse(line.receive(self._timeout))
            if reply.get("id") == self._number:
                return call.result(reply)
            if "error" in reply and reply.get("id") is None:
                # The daemon takes no more clients, or could not read a request.
                call.result(reply)

    # Reading.

    def get(self, path: str, *, presentation: bool = False) -> Value:
        """The value of one attribute.

        :param presentation: returns the displayed value instead of the model value.
        :raises AttributeFailed: when the attribute has an error in place of a value.
        """
        return self._perform(wire.get(path, presentation))

    def get_all(self, *paths: str, presentation: bool = False) -> Dict[str, Value]:
        """Several attributes at one revision, by path. Patterns stand for the paths that they match
        now. An attribute with an error has an :class:`AttributeFailed` as its value."""
        return self._perform(wire.get_all(list(paths), presentation))

    def eval(self, expression: str, *, at: Optional[str] = None, **bindings: Value) -> Value:
        """Evaluates a rule once and returns its value."""
        return self._perform(wire.evaluate(expression, bindings, at))

    # Writing.

    def set(
        self, path: str, value: Value, *,
        animation: Optional[Animation] = None, label: Optional[str] = None, disables_animations: bool = False,
        once: Optional[str] = None,
    ) -> int:  # fmt: skip
        """Writes one value.

        :returns: the revision at which it is there.
        """
        return self._perform(wire.set_value(path, value, Options(animation, label, disables_animations or None, once)))

    def transact(
        self, *, animation: Optional[Animation] = None, label: Optional[str] = None, disables_animations: bool = False,
        once: Optional[str] = None,
    ) -> Transaction:
        """A block of changes that are committed as one revision."""
        return Transaction(self._perform, "transact", Options(animation, label, disables_animations or None, once))

    def toggle(
        self, path: str, *,
        animation: Optional[Animation] = None, label: Optional[str] = None, once: Optional[str] = None,
    ) -> int:  # fmt: skip
        """Inverts a bool."""
        return self.transact(animation=animation, label=label, once=once).toggle(path).commit()

    def add(
        self, path: str, amount: Value, *,
        animation: Optional[Animation] = None, label: Optional[str] = None, once: Optional[str] = None,
    ) -> int:  # fmt: skip
        """Adds to a number, a duration or a timestamp. No other client's change is lost in between."""
        return self.transact(animation=animation, label=label, once=once).add(path, amount).commit()

    def do(
        self, path: str, arguments: Optional[Mapping[str, Value]] = None, *,
        animation: Optional[Animation] = None, label: Optional[str] = None, once: Optional[str] = None,
    ) -> int:  # fmt: skip
        """Calls an action of a node.

        :param arguments: by the names of the action's parameters.
        :returns: the revision at which everything that it writes is there.
        """
        return self._perform(wire.do(path, arguments or {}, Options(animation, label, once=once)))

    def on_disconnect(self, *, animation: Optional[Animation] = None, label: Optional[str] = None) -> LastWill:
        """A block of changes that the daemon commits when this client disconnects for any reason.

        Each connection begins with them, also the first one if no daemon answers now. If the daemon
        refuses them then, the request that opened the connection raises the refusal and is not sent.
        Later connections do without them.
        """
        return LastWill(self._leave, "onDisconnect", Options(animation, label))

    def history(self, path: str) -> History:
        """The least and the greatest values of an attribute whose definition has ``history``, by time."""
        return self._perform(wire.history(path))

    # The tree.

    def apply(
        self, document: Union[str, Mapping[str, Any]], *, at: str = "/", mode: str = "create", dry_run: bool = False,
        animation: Optional[Animation] = None, label: Optional[str] = None,
    ) -> Dict[str, Any]:  # fmt: skip
        """Checks a whole scene document, then creates, merges or replaces its nodes.

        :param document: its YAML or JSON text, or the document itself.
        :returns: ``added``, ``removed`` and ``changed`` paths, and the ``revision``.
        """
        return self._perform(wire.apply(document, at, mode, dry_run, Options(animation, label)))

    def remove(self, path: str, *, animation: Optional[Animation] = None, label: Optional[str] = None) -> int:
        """Removes a node with everything below it."""
        return self._perform(wire.remove(path, Options(animation, label)))

    def move(
        self, path: str, to: Optional[str] = None, *, index: Optional[int] = None,
        animation: Optional[Animation] = None, label: Optional[str] = None,
    ) -> int:  # fmt: skip
        """Moves a node to another parent, or to another position among its siblings."""
        return self._perform(wire.move(path, to, index, Options(animation, label)))

    # The rest of the protocol. The results are those of Protocol.md.

    def call(self, method: str, **params: Any) -> Any:
        """Sends any request and returns its result as JSON."""
        return self._perform(wire.plain(method, params))

    def ping(self) -> None:
        self.call("ping")

    def describe(self, path: Optional[str] = None, *, depth: Optional[int] = None) -> Dict[str, Any]:
        return self.call("describe", path=path, depth=depth)  # type: ignore[no-any-return]

    def explain(self, path: str, *, revision: Optional[int] = None) -> Dict[str, Any]:
        return self.call("explain", path=path, revision=revision)  # type: ignore[no-any-return]

    def dump(self, path: str = "/", *, format: str = "json", layer: Optional[str] = None) -> Any:
        return self.call("dump", path=path, format=format, layer=layer)

    def stats(self) -> Dict[str, Any]:
        return self.call("stats")  # type: ignore[no-any-return]

    def prune(self) -> int:
        """Deletes the stored rows of nodes that do not exist. Returns their number."""
        return self.call("prune")["pruned"]  # type: ignore[no-any-return]

    @overload
    def watch(
        self, *paths: str,
        events: None = None, initial: Optional[bool] = None, since: Optional[Since] = None,
        max_rate: Optional[float] = None, frames: None = None, css: bool = False, bookmarks: Literal[False] = False,
        reports: bool = False,
        on_live: Optional[Callable[[bool], None]] = None,
    ) -> "Watch[Update]": ...  # fmt: skip

    @overload
    def watch(
        self, *paths: str,
        events: Optional[List[str]] = None, initial: Optional[bool] = None, since: Optional[Since] = None,
        max_rate: Optional[float] = None, frames: Optional[float] = None, css: bool = False, bookmarks: bool = False,
        reports: bool = False,
        on_live: Optional[Callable[[bool], None]] = None,
    ) -> "Watch[Event]": ...  # fmt: skip

    def watch(
        self, *paths: str,
        events: Optional[List[str]] = None, initial: Optional[bool] = None, since: Optional[Since] = None,
        max_rate: Optional[float] = None, frames: Optional[float] = None, css: bool = False, bookmarks: bool = False,
        reports: bool = False,
        on_live: Optional[Callable[[bool], None]] = None,
    ) -> "Watch[Any]":  # fmt: skip
        """Events of the paths or patterns, first the values as they are. See :class:`Watch`.

        :param events: of ``update`` (the default), ``invalidate``, ``structure``, ``frames``, ``completion``.
        :param max_rate: updates per second; between them the newest values are kept.
        :param frames: displayed values of what moves, that many times a second.
        :param reports: changes have :attr:`Change.reported`, and reports of an equal value are updates, too.
        :param on_live: called with False when the connection is lost and with True when it is back.
        """
        params = wire.subscription(list(paths), events, initial, max_rate, frames, css, bookmarks, reports)
        return Watch(self.path, self._hello, self._timeout, params, since, on_live, self._retry)

    def wait_for(self, path: str, predicate: Callable[[Value], object], timeout: Optional[float] = None) -> Value:
        """Waits until ``predicate`` is true of the value of an attribute, and returns the value.

        While the attribute has an error, it waits. It goes on after a loss of the connection.

        :param timeout: maximum seconds, also for a daemon that is not there; None waits without limit.
        :raises TimedOut: with the last value.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        known: List[Value] = []
        params = wire.subscription([path], None, None, None, None, False, False, False)
        patience = min((each for each in (self._timeout, timeout) if each is not None), default=None)
        with Watch[Update](self.path, self._hello, patience, params, None, None, self._retry, opens=False) as watch:
            while True:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                update = watch.next(left)
                if update is None:
                    raise wire.waited(timeout, path, known, watch.is_live)
                known = list(update.changes.values())
                for value in known:
                    if not isinstance(value, AttributeFailed) and predicate(value):
                        return value


class Watch(wire.WatchState, Iterator[E]):
    """Events of a subscription, without end.

    It has a connection of its own. When that is lost it connects again and continues where it was: the
    last value of every path is heard, values in between may be skipped. Only the first connection
    raises :class:`Unreachable`; with the client's ``retry``, after that time.
    """

    def __init__(
        self, path: str, hello: Mapping[str, str], timeout: Optional[float], params: Mapping[str, Any],
        since: Optional[Since], on_live: Optional[Callable[[bool], None]], retry: Optional[float] = None,
        opens: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(path, hello, timeout, params, since, on_live, retry)
        self._line: Optional[_Line] = None
        while opens and not self._line:
            try:
                self._connect()
            except AgdError as error:
                time.sleep(self._pause(error, False))

    @property
    def is_live(self) -> bool:
        """False while the connection is lost. Known values may then be out of date."""
        return self._line is not None

    def __enter__(self) -> "Watch[E]":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the watch and its iteration."""
        self._is_closed = True
        if self._line:
            self._line.close()
            self._line = None

    def __next__(self) -> E:
        event = self.next()
        if event is None:
            raise StopIteration
        return event

    def next(self, timeout: Optional[float] = None) -> Optional[E]:
        """The next event; None when none came within ``timeout`` seconds, or after :meth:`close`.

        :raises Ended: when the daemon ended the subscription.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._is_closed:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                line = self._line or self._connect()
                raw = self._early.pop(0) if self._early else line.receive(left)
            except TimedOut as error:
                if self._line:
                    return None
                self._wait(error, left)
            except (ConnectionLost, Unreachable, Refused) as error:
                self._wait(error, left)
            else:
                event = self._subscriber.receive(wire.parse(raw))
                if event is not None:
                    return cast(E, event)
            if deadline is not None and time.monotonic() >= deadline:
                return None
        return None

    def _wait(self, error: AgdError, left: Optional[float]) -> None:
        line, self._line = self._line, None
        if line:
            line.close()
        if self._is_closed:
            raise error
        pause = self._pause(error, line is not None)
        time.sleep(pause if left is None else min(pause, left))

    def _connect(self) -> _Line:
        was_known = self._subscriber.is_known
        line = _Line(self._path, self._timeout)
        try:
            if self._hello:
                line.send(wire.plain("hello", self._hello).line(1), self._timeout)
            line.send(self._subscriber.line(2), self._timeout)
            self._early = []
            while True:
                raw = line.receive(self._timeout)
                message = wire.parse(raw)
                if message.get("id") == 1:
                    wire.plain("hello", self._hello).result(message)
                elif message.get("id") == 2 or ("error" in message and message.get("id") is None):
                    self._subscriber.accept(message)
                    break
                elif "method" in message:
                    self._early.append(raw)
        except BaseException:
            line.close()
            raise
        self._line = line
        self._backoff.reset()
        if was_known and self._on_live:
            self._on_live(True)
        return line
