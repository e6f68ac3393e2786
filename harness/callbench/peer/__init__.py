"""Peers: implementations of the Call framework under test, in any language.

A :class:`Peer` says what it implements (``hello``), does operations (``run``), and ends (``close``).
:class:`StdioPeer` is a program that speaks the protocol of ``callbench/conformance/PROTOCOL.md``;
:class:`PythonPeer` a module in this process. Beneath everything that judges: nothing here knows a
case, a rule or an expected value.
"""

from __future__ import annotations

from callbench.peer.answers import Answer, Failed, Hello, Misbehaved, Result, Unsupported
from callbench.peer.errors import PeerError
from callbench.peer.opening import REFERENCE, opener
from callbench.peer.peer import Peer
from callbench.peer.python import PythonPeer
from callbench.peer.stdio import StdioPeer

__all__ = [
    "REFERENCE",
    "Answer",
    "Failed",
    "Hello",
    "Misbehaved",
    "Peer",
    "PeerError",
    "PythonPeer",
    "Result",
    "StdioPeer",
    "Unsupported",
    "opener",
]
