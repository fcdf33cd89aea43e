"""agd, the attribute-graph daemon, from Python.

>>> import agd
>>> with agd.Client() as client:                                     # doctest: +SKIP
...     client.set("/player.isPlaying", True, animation="bouncy")
...     for update in client.watch("/player/**"):
...         print(update.revision, update.changes)

No dependencies, Python 3.9 or later. :class:`Client` blocks, :class:`AsyncClient` is for asyncio.
"""

from ._messages import Bookmark, Change, Completion, Event, Frames, Invalidation, Structure, Update
from ._operations import AsyncLastWill, AsyncTransaction, LastWill, Transaction
from ._wire import History
from .aio import AsyncClient, AsyncWatch
from .client import Client, Watch
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
from .timeline import Timeline
from .values import Angle, Color, TypeName, UInt, Vector

__version__ = "0.1.0"

__all__ = [
    "AgdError",
    "Angle",
    "AsyncClient",
    "AsyncLastWill",
    "AsyncTransaction",
    "AsyncWatch",
    "AttributeFailed",
    "Bookmark",
    "Change",
    "Client",
    "Color",
    "Completion",
    "ConnectionLost",
    "Ended",
    "Event",
    "Frames",
    "History",
    "Invalidation",
    "LastWill",
    "NoRoom",
    "ProtocolFault",
    "Refused",
    "Structure",
    "TimedOut",
    "Timeline",
    "Transaction",
    "TypeName",
    "UInt",
    "Unreachable",
    "Update",
    "Vector",
    "Watch",
]
