"""Model traffic for peers: an endpoint on loopback that answers by turn, and the judging of requests.

:class:`~callbench.conformance.traffic.endpoint.Endpoint` serves, beneath a base URL of each case, the
answers of a :class:`~callbench.conformance.traffic.script.Script`; what was asked stays with the
visit, for :mod:`~callbench.conformance.traffic.judging`. The answers of the suite's cases are
synthetic: made up for tests of the protocol, said by no model.
"""
