"""Conformance: is an implementation of the Call framework, in any language, what the contract says?

| module | what |
| --- | --- |
| ``PROTOCOL.md`` | how the harness and an implementation under test, the *peer*, talk |
| ``reference`` | the operations of the protocol, done by ``corecall`` |
| ``contract``, ``suite`` | CONTRACT.md read as data, and its examples made into cases |
| ``cases`` | the suite: files of cases, loaded and checked |
| ``compare``, ``diff`` | when a result is the expected one, and what differs if not |
| ``known`` | cases that are known to fail |
| ``runner``, ``reports`` | cases put to peers, and what came of it |
| ``smoke`` | checks of a peer's plumbing |
| ``skeletons`` | peers to begin with |
"""
