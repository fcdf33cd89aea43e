"""Transactions: mutations that are committed together, all or none."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Awaitable, Callable, Dict, List, Optional, Type, TypeVar

from ._wire import Call, Options, write
from .values import Value, encode

Self = TypeVar("Self", bound="Mutations")


class Mutations:
    """Mutations in their order. Each sees the results of those before it."""

    def __init__(self) -> None:
        self._mutations: List[Dict[str, Any]] = []
        #: The revision of the commit; None before it.
        self.revision: Optional[int] = None

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


class Transaction(Mutations):
    """``with client.transact() as t:`` commits at the end of the block, and nothing if it raises."""

    def __init__(self, perform: Callable[[Call[int]], int], method: str, options: Options) -> None:
        super().__init__()
        self._perform, self._method, self._options = perform, method, options

    def commit(self) -> int:
        """
        :returns: the revision of the changes.
        """
        self.revision = self._perform(write(self._method, self._mutations, self._options))
        return self.revision

    def __enter__(self) -> "Transaction":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if kind is None and self._mutations and self.revision is None:
            self.commit()


class AsyncTransaction(Mutations):
    """``async with client.transact() as t:`` commits at the end of the block."""

    def __init__(self, perform: Callable[[Call[int]], Awaitable[int]], method: str, options: Options) -> None:
        super().__init__()
        self._perform, self._method, self._options = perform, method, options

    async def commit(self) -> int:
        self.revision = await self._perform(write(self._method, self._mutations, self._options))
        return self.revision

    async def __aenter__(self) -> "AsyncTransaction":
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if kind is None and self._mutations and self.revision is None:
            await self.commit()
