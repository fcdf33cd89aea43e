"""The client for asyncio."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Dict, List, Literal, Mapping, Optional, Tuple, Type, TypeVar, Union, cast, overload

from . import _wire as wire
from ._messages import Event, Update
from ._operations import AsyncLastWill, AsyncTransaction
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
_Streams = Tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _open(path: str) -> _Streams:
    try:
        return await asyncio.open_unix_connection(path, limit=wire.LONGEST_LINE)
    except OSError as error:
        raise wire.unreachable(path, error) from None


async def _receive(reader: asyncio.StreamReader) -> bytes:
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.LimitOverrunError:
        raise ProtocolFault("a line without end") from None
    except (asyncio.IncompleteReadError, OSError):
        raise ConnectionLost("the daemon closed the connection") from None
    return line


class AsyncClient:
    """A connection to the daemon, made with the first request and made again after a loss.

    Any number of tasks may use one client; their requests share the connection and do not wait for
    one another. What was under way when the connection broke raises :class:`ConnectionLost`, or is
    repeated with ``retry``, as :class:`agd.Client` does. Requests that a program has not waited for
    may then be performed in another order.
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
        #: Set by :meth:`close`, for requests that wait to be repeated.
        self._closing: Optional[asyncio.Event] = None
        self._streams: Optional[_Streams] = None
        self._reading: Optional["asyncio.Task[None]"] = None
        self._connecting = asyncio.Lock()
        self._waiting: Dict[int, "asyncio.Future[Mapping[str, Any]]"] = {}
        self._number = 0
        self._farewells: List[Call[int]] = []

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connection. The daemon then commits the changes of :meth:`on_disconnect`."""
        self._farewells.clear()
        if self._closing:
            self._closing.set()
            self._closing = None
        reading, self._reading = self._reading, None
        streams = self._streams
        self._lose(ConnectionLost("the client was closed"))
        if streams:
            await asyncio.gather(streams[1].wait_closed(), return_exceptions=True)
        if reading:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def _lose(self, error: Exception) -> None:
        streams, self._streams = self._streams, None
        if streams:
            streams[1].close()
        waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(error)

    async def _perform(self, call: Call[T]) -> T:
        attempts = wire.Attempts(call, self._retry)
        closing = self._closing = self._closing or asyncio.Event()
        while True:
            try:
                return await self._attempt(call)
            except AgdError as error:
                pause = attempts.pause(error)
            try:
                await asyncio.wait_for(closing.wait(), pause)
            except asyncio.TimeoutError:
                continue
            raise ConnectionLost("the client was closed")

    async def _attempt(self, call: Call[T]) -> T:
        async with self._connecting:
            streams = self._streams or await self._connect()
        return await self._exchange(streams, call)

    async def _leave(self, call: Call[int]) -> Optional[int]:
        try:
            revision = await self._attempt(call)
        except (Unreachable, ConnectionLost, TimedOut, NoRoom):
            # The next connection begins with it.
            self._farewells.append(call)
            return None
        self._farewells.append(call)
        return revision

    async def _connect(self) -> _Streams:
        streams = await _open(self.path)
        self._streams = streams
        self._reading = asyncio.ensure_future(self._read(streams))
        refusals: List[Refused] = []
        try:
            if self._hello:
                await self._exchange(streams, wire.plain("hello", self._hello))
            for farewell in list(self._farewells):
                try:
                    await self._exchange(streams, farewell)
                except NoRoom:
                    raise
                except Refused as error:
                    # It will not be asked for again, so that the program can mend what is missing.
                    self._farewells.remove(farewell)
                    refusals.append(error)
        except ConnectionLost as error:
            self._lose(error)
            raise wire.lost_at_once(self.path, error) from None
        except BaseException:
            # Requests must not go over a connection that may not act for the principal. The task may also be cancelled.
            self._lose(ConnectionLost("the connection could not be made"))
            raise
        if refusals:
            raise refusals[0]
        return streams

    async def _exchange(self, streams: _Streams, call: Call[T]) -> T:
        self._number += 1
        number = self._number
        answer: "asyncio.Future[Mapping[str, Any]]" = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        streams[1].write(call.line(number))
        try:
            # If a daemon reads nothing, the client's memory must not grow.
            await asyncio.wait_for(streams[1].drain(), self._timeout)
            return call.result(await asyncio.wait_for(answer, self._timeout))
        except asyncio.TimeoutError:
            error = TimedOut(f"the daemon did not answer within {self._timeout} s")
            self._lose(error)
            raise error from None
        except OSError:
            raise ConnectionLost("the daemon closed the connection") from None
        finally:
            self._waiting.pop(number, None)
            if answer.done() and not answer.cancelled():
                answer.exception()  # told already

    async def _read(self, streams: _Streams) -> None:
        try:
            while True:
                message = wire.parse(await _receive(streams[0]))
                answer = self._waiting.pop(message.get("id", 0) or 0, None)
                if answer and not answer.done():
                    answer.set_result(message)
                elif "error" in message and message.get("id") is None:
                    # The daemon takes no more clients.
                    wire.plain("", {}).result(message)
        except (ConnectionLost, ProtocolFault, Refused) as error:
            if self._streams is streams:
                self._lose(error)

    # Reading.

    async def get(self, path: str, *, presentation: bool = False) -> Value:
        """As :meth:`agd.Client.get`."""
        return await self._perform(wire.get(path, presentation))

    async def get_all(self, *paths: str, presentation: bool = False) -> Dict[str, Value]:
        """As :meth:`agd.Client.get_all`."""
        return await self._perform(wire.get_all(list(paths), presentation))

    async def eval(self, expression: str, *, at: Optional[str] = None, **bindings: Value) -> Value:
        """As :meth:`agd.Client.eval`."""
        return await self._perform(wire.evaluate(expression, bindings, at))

    # Writing.

    async def set(
        self, path: str, value: Value, *,
        animation: Optional[Animation] = None, label: Optional[str] = None, disables_animations: bool = False,
        once: Optional[str] = None,
    ) -> int:  # fmt: skip
        """As :meth:`agd.Client.set`."""
        options = Options(animation, label, disables_animations or None, once)
        return await self._perform(wire.set_value(path, value, options))

    def transact(
        self, *, animation: Optional[Animation] = None, label: Optional[str] = None, disables_animations: bool = False,
        once: Optional[str] = None,
    ) -> AsyncTransaction:
        """``async with client.transact() as t:`` commits at the end of the block."""
        return AsyncTransaction(self._perform, "transact", Options(animation, label, disables_animations or None, once))

    async def toggle(
        self, path: str, *,
        animation: Optional[Animation] = None, label: Optional[str] = None, once: Optional[str] = None,
    ) -> int:  # fmt: skip
        """Inverts a bool."""
        return await self.transact(animation=animation, label=label, once=once).toggle(path).commit()

    async def add(
        self, path: str, amount: Value, *,
        animation: Optional[Animation] = None, label: Optional[str] = None, once: Optional[str] = None,
    ) -> int:  # fmt: skip
        """As :meth:`agd.Client.add`."""
        return await self.transact(animation=animation, label=label, once=once).add(path, amount).commit()

    async def do(
        self, path: str, arguments: Optional[Mapping[str, Value]] = None, *,
        animation: Optional[Animation] = None, label: Optional[str] = None, once: Optional[str] = None,
    ) -> int:  # fmt: skip
        """As :meth:`agd.Client.do`."""
        return await self._perform(wire.do(path, arguments or {}, Options(animation, label, once=once)))

    def on_disconnect(self, *, animation: Optional[Animation] = None, label: Optional[str] = None) -> AsyncLastWill:
        """As :meth:`agd.Client.on_disconnect`."""
        return AsyncLastWill(self._leave, "onDisconnect", Options(animation, label))

    async def history(self, path: str) -> History:
        """As :meth:`agd.Client.history`."""
        return await self._perform(wire.history(path))

    # The tree.

    async def apply(
        self, document: Union[str, Mapping[str, Any]], *, at: str = "/", mode: str = "create", dry_run: bool = False,
        animation: Optional[Animation] = None, label: Optional[str] = None,
    ) -> Dict[str, Any]:  # fmt: skip
        """As :meth:`agd.Client.apply`."""
        return await self._perform(wire.apply(document, at, mode, dry_run, Options(animation, label)))

    async def remove(self, path: str, *, animation: Optional[Animation] = None, label: Optional[str] = None) -> int:
        """Removes a node with everything below it."""
        return await self._perform(wire.remove(path, Options(animation, label)))

    async def move(
        self, path: str, to: Optional[str] = None, *, index: Optional[int] = None,
        animation: Optional[Animation] = None, label: Optional[str] = None,
    ) -> int:  # fmt: skip
        """Moves a node to another parent, or to another position among its siblings."""
        return await self._perform(wire.move(path, to, index, Options(animation, label)))

    # The rest of the protocol. The results are those of Protocol.md.

    async def call(self, method: str, **params: Any) -> Any:
        """Sends any request and returns its result as JSON."""
        return await self._perform(wire.plain(method, params))

    async def ping(self) -> None:
        await self.call("ping")

    async def describe(self, path: Optional[str] = None, *, depth: Optional[int] = None) -> Dict[str, Any]:
        return await self.call("describe", path=path, depth=depth)  # type: ignore[no-any-return]

    async def explain(self, path: str, *, revision: Optional[int] = None) -> Dict[str, Any]:
        return await self.call("explain", path=path, revision=revision)  # type: ignore[no-any-return]

    async def dump(self, path: str = "/", *, format: str = "json", layer: Optional[str] = None) -> Any:
        return await self.call("dump", path=path, format=format, layer=layer)

    async def stats(self) -> Dict[str, Any]:
        return await self.call("stats")  # type: ignore[no-any-return]

    async def prune(self) -> int:
        return (await self.call("prune"))["pruned"]  # type: ignore[no-any-return]

    @overload
    def watch(
        self, *paths: str,
        events: None = None, initial: Optional[bool] = None, since: Optional[Since] = None,
        max_rate: Optional[float] = None, frames: None = None, css: bool = False, bookmarks: Literal[False] = False,
        reports: bool = False,
        on_live: Optional[Callable[[bool], None]] = None,
    ) -> "AsyncWatch[Update]": ...  # fmt: skip

    @overload
    def watch(
        self, *paths: str,
        events: Optional[List[str]] = None, initial: Optional[bool] = None, since: Optional[Since] = None,
        max_rate: Optional[float] = None, frames: Optional[float] = None, css: bool = False, bookmarks: bool = False,
        reports: bool = False,
        on_live: Optional[Callable[[bool], None]] = None,
    ) -> "AsyncWatch[Event]": ...  # fmt: skip

    def watch(
        self, *paths: str,
        events: Optional[List[str]] = None, initial: Optional[bool] = None, since: Optional[Since] = None,
        max_rate: Optional[float] = None, frames: Optional[float] = None, css: bool = False, bookmarks: bool = False,
        reports: bool = False,
        on_live: Optional[Callable[[bool], None]] = None,
    ) -> "AsyncWatch[Any]":  # fmt: skip
        """As :meth:`agd.Client.watch`: ``async for update in client.watch("/hosts/**")``."""
        params = wire.subscription(list(paths), events, initial, max_rate, frames, css, bookmarks, reports)
        return AsyncWatch(self.path, self._hello, self._timeout, params, since, on_live, self._retry)

    async def wait_for(
        self, path: str, predicate: Callable[[Value], object], timeout: Optional[float] = None
    ) -> Value:
        """As :meth:`agd.Client.wait_for`."""
        known: List[Value] = []
        params = wire.subscription([path], None, None, None, None, False, False, False)
        watch = AsyncWatch[Update](self.path, self._hello, self._timeout, params, None, None, self._retry)

        async def come_true() -> Value:
            async for update in watch:
                known[:] = update.changes.values()
                for value in known:
                    if not isinstance(value, AttributeFailed) and predicate(value):
                        return value

        try:
            return await asyncio.wait_for(come_true(), timeout)
        except asyncio.TimeoutError:
            raise wire.waited(timeout, path, known, watch.is_live) from None
        finally:
            watch.close()


class AsyncWatch(wire.WatchState, AsyncIterator[E]):
    """Events of a subscription, without end; see :class:`agd.Watch`."""

    def __init__(
        self, path: str, hello: Mapping[str, str], timeout: Optional[float], params: Mapping[str, Any],
        since: Optional[Since], on_live: Optional[Callable[[bool], None]], retry: Optional[float] = None,
    ) -> None:  # fmt: skip
        super().__init__(path, hello, timeout, params, since, on_live, retry)
        self._streams: Optional[_Streams] = None

    @property
    def is_live(self) -> bool:
        """False while the connection is lost. Known values may then be out of date."""
        return self._streams is not None

    async def __aenter__(self) -> "AsyncWatch[E]":
        """Subscribes. Otherwise, the first event does."""
        while not (self._streams or self._is_closed):
            try:
                await self._connect()
            except AgdError as error:
                await asyncio.sleep(self._pause(error, False))
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the watch and its iteration."""
        self._is_closed = True
        streams, self._streams = self._streams, None
        if streams:
            streams[1].close()

    async def __anext__(self) -> E:
        while not self._is_closed:
            try:
                streams = self._streams or await self._connect()
                raw = self._early.pop(0) if self._early else await _receive(streams[0])
            except (ConnectionLost, Unreachable, TimedOut, Refused) as error:
                streams_before, self._streams = self._streams, None
                if streams_before:
                    streams_before[1].close()
                if self._is_closed:
                    break
                await asyncio.sleep(self._pause(error, streams_before is not None))
                continue
            event = self._subscriber.receive(wire.parse(raw))
            if event is not None:
                return cast(E, event)
        raise StopAsyncIteration

    async def _connect(self) -> _Streams:
        was_known = self._subscriber.is_known
        streams = await _open(self._path)
        try:
            await asyncio.wait_for(self._subscribe(*streams), self._timeout)
        except asyncio.TimeoutError:
            streams[1].close()
            raise TimedOut(f"the daemon did not answer within {self._timeout} s") from None
        except BaseException:
            streams[1].close()
            raise
        self._streams = streams
        self._backoff.reset()
        if was_known and self._on_live:
            self._on_live(True)
        return streams

    async def _subscribe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._hello:
            writer.write(wire.plain("hello", self._hello).line(1))
        writer.write(self._subscriber.line(2))
        self._early = []
        while True:
            raw = await _receive(reader)
            message = wire.parse(raw)
            if message.get("id") == 1:
                wire.plain("hello", self._hello).result(message)
            elif message.get("id") == 2 or ("error" in message and message.get("id") is None):
                return self._subscriber.accept(message)
            elif "method" in message:
                self._early.append(raw)
