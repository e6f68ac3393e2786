"""The models of a run, behind a cassette: one reasoning role, one function role."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from callbench.cassette.faults.applying import Faults
from callbench.cassette.replay import Sleep, Timing
from callbench.cassette.store import Cassette
from callbench.cassette.transport import CassetteTransport, Mode
from callbench.errors import UsageError
from callbench.models.catalogue import Catalogue, ModelProfile, Role
from callbench.models.opening import open_model
from corecall.providers import ChatClient, Endpoint, FunctionModel, Models, ReasoningModel

BOTH: tuple[Role, ...] = ("reasoning", "function")


@dataclass(frozen=True, slots=True)
class Roles:
    """The profiles that play the two roles; often the same. ``asked``: the roles in use."""

    reasoning: ModelProfile
    function: ModelProfile
    asked: tuple[Role, ...] = BOTH

    @property
    def in_use(self) -> dict[str, ModelProfile]:
        """The profiles of the roles that are asked, by role."""
        both = {"reasoning": self.reasoning, "function": self.function}
        return {role: both[role] for role in self.asked}


def roles_of(
    catalogue: Catalogue,
    model: str,
    function_model: str | None,
    asked: tuple[Role, ...] = BOTH,
) -> Roles:
    """Return the profiles named; ``UsageError`` for an unknown one, or one unfit for its role.

    A role that is not ``asked`` is played by the model of the other.
    """
    reasoning = catalogue.profile(model)
    function = catalogue.profile(function_model) if function_model else reasoning
    if "reasoning" in asked and "reasoning" not in reasoning.roles:
        raise UsageError(
            f"{reasoning.name} is a function model only: it cannot answer stage 1.",
            remedy=f"Give it the other role: --model smollm2 --function-model {reasoning.name}, "
            f"or ask it alone: --system stage2 --model {reasoning.name}",
        )
    if "function" in asked and "function" not in function.roles:
        raise UsageError(f"{function.name} cannot be the function model.")
    if "reasoning" not in asked:
        reasoning = function
    if "function" not in asked:
        function = reasoning
    return Roles(reasoning, function, asked)


@asynccontextmanager
async def open_models(
    roles: Roles,
    cassette: Cassette,
    mode: Mode,
    *,
    command: str,
    faults: Faults | None = None,
    pace: float | None = None,
    sleep: Sleep = asyncio.sleep,
) -> AsyncIterator[Models]:
    """Give the models of ``roles``; nothing is started or connected before it is needed.

    ``command`` is what a miss tells the user to run. ``faults`` are laid over what is replayed,
    at ``pace`` (``None``: at once);
    ``sleep`` is how they, and the waits before a retry, let time pass.
    """
    async with AsyncExitStack() as stack:

        async def client(profile: ModelProfile) -> ChatClient:
            opened = open_model(profile, replaying=mode is Mode.REPLAY)
            transport = CassetteTransport(
                cassette,
                mode,
                opened.transport,
                base_url=opened.base_url,
                secrets=[opened.api_key] if opened.api_key else [],
                command=command,
                timing=None if faults is None and pace is None else Timing(pace, sleep),
                faults=faults,
            )
            endpoint = Endpoint(
                base_url=opened.base_url,
                model=profile.model,
                api_key=opened.api_key,
                params=profile.params,
                timeout=profile.timeout,
                system_first=profile.system_first,
            )
            made = ChatClient(endpoint, transport=transport, sleep=sleep)
            stack.push_async_callback(made.aclose)
            return made

        reasoning = await client(roles.reasoning)
        function = reasoning if roles.function is roles.reasoning else await client(roles.function)
        yield Models(
            reasoning=ReasoningModel(reasoning, reply_mode=roles.reasoning.reply_mode),
            function=FunctionModel(
                function, mode=roles.function.function_mode, trials=roles.function.trials
            ),
        )
