"""Transactions: mutations that are committed together, all or none."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Awaitable, Callable, Dict, Generic, List, Optional, Type, TypeVar

from ._wire import Call, Options, write
from .values import Value, encode

Self = TypeVar("Self", bound="Mutations")


class Mutations:
    """Mutations in their order. Each sees the results of those before it."""

    def __init__(self) -> None:
        self._mutations: List[Dict[str, Any]] = []

    def _add(self: Self, operation: str, path: str, **more: Any) -> Self:
        self._mutations.append({"op": operation, "path": path, **more})
        return self

    def set(self: Self, path: str, value: Value) -> Self:
        return self._add("set", path, value=encode(value))

    def toggle(self: Self, path: str) -> Self:
        """Inverts a bool."""
        return self._add("toggle", path)

    def add(self: Self, path: str, amount: Value) -> Self:
        """Adds to a number, exactly."""
        return self._add("add", path, value=encode(amount))

    def append(self: Self, path: str, value: Value) -> Self:
        """Appends to a list, or a text to a string."""
        return self._add("append", path, value=encode(value))

    def insert(self: Self, path: str, value: Value, index: Optional[int] = None) -> Self:
        """Inserts a value into a list, before ``index`` or at the end."""
        return self._add("insert", path, value=encode(value), **({} if index is None else {"index": index}))

    def remove(self: Self, path: str) -> Self:
        """Removes the element or entry that the path names."""
        return self._add("remove", path)

    def merge(self: Self, path: str, value: Value) -> Self:
        """Merges into a map as RFC 7396 says: None removes an entry."""
        return self._add("merge", path, value=encode(value))

    def test(self: Self, path: str, value: Value) -> Self:
        """Refuses the whole transaction with ``conflict`` unless the attribute has this value."""
        return self._add("test", path, value=encode(value))


#: What a block returns when it is committed.
R = TypeVar("R")


class Block(Mutations, Generic[R]):
    """``with client.transact() as t:`` commits at the end of the block, and nothing if it raises."""

    def __init__(self, perform: Callable[[Call[int]], R], method: str, options: Options) -> None:
        super().__init__()
        self._perform, self._method, self._options = perform, method, options
        #: The revision of the changes; None before it is known.
        self.revision: Optional[R] = None
        self._is_committed = False

    def commit(self) -> R:
        """
        :returns: the revision of the changes.
        """
        self.revision = self._perform(write(self._method, self._mutations, self._options))
        self._is_committed = True
        return self.revision

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if kind is None and self._mutations and not self._is_committed:
            self.commit()


class Transaction(Block[int]):
    """Changes that are committed together."""


class LastWill(Block[Optional[int]]):
    """Changes for the end of the connection. :meth:`commit` returns None if no daemon has confirmed them yet."""


class AsyncBlock(Mutations, Generic[R]):
    """``async with client.transact() as t:`` commits at the end of the block."""

    def __init__(self, perform: Callable[[Call[int]], Awaitable[R]], method: str, options: Options) -> None:
        super().__init__()
        self._perform, self._method, self._options = perform, method, options
        #: The revision of the changes; None before it is known.
        self.revision: Optional[R] = None
        self._is_committed = False

    async def commit(self) -> R:
        self.revision = await self._perform(write(self._method, self._mutations, self._options))
        self._is_committed = True
        return self.revision

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if kind is None and self._mutations and not self._is_committed:
            await self.commit()


class AsyncTransaction(AsyncBlock[int]):
    """As :class:`Transaction`."""


class AsyncLastWill(AsyncBlock[Optional[int]]):
    """As :class:`LastWill`."""
