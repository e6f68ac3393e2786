"""The models of a run, behind a cassette: one reasoning role, one function role."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from callbench.cassette.store import Cassette
from callbench.cassette.transport import CassetteTransport, Mode
from callbench.errors import UsageError
from callbench.models.catalogue import Catalogue, ModelProfile
from callbench.models.opening import open_model
from corecall.providers import ChatClient, Endpoint, FunctionModel, Models, ReasoningModel


@dataclass(frozen=True, slots=True)
class Roles:
    """The profiles that play the two roles; often the same."""

    reasoning: ModelProfile
    function: ModelProfile


def roles_of(catalogue: Catalogue, model: str, function_model: str | None) -> Roles:
    """Return the profiles named; ``UsageError`` for an unknown one, or one unfit for its role."""
    reasoning = catalogue.profile(model)
    function = catalogue.profile(function_model) if function_model else reasoning
    if "reasoning" not in reasoning.roles:
        raise UsageError(
            f"{reasoning.name} is a function model only: it cannot answer stage 1.",
            remedy=f"Give it the other role: --model smollm2 --function-model {reasoning.name}",
        )
    if "function" not in function.roles:
        raise UsageError(f"{function.name} cannot be the function model.")
    return Roles(reasoning, function)


@asynccontextmanager
async def open_models(
    roles: Roles, cassette: Cassette, mode: Mode, *, command: str
) -> AsyncIterator[Models]:
    """Give the models of ``roles``; nothing is started or connected before it is needed.

    ``command`` is what a miss tells the user to run.
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
            )
            endpoint = Endpoint(
                base_url=opened.base_url,
                model=profile.model,
                api_key=opened.api_key,
                params=profile.params,
                timeout=profile.timeout,
                system_first=profile.system_first,
            )
            made = ChatClient(endpoint, transport=transport)
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
