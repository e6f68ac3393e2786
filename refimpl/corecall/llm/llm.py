"""The LLM call: question, context and history into one streamed reply (seed LLM).

Contract: llm.config.2, llm.config.3, llm.config.4, llm.config.5, llm.config.6, llm.config.7.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from typing import Any

from pydantic import Field

from ..context import clock, last, shown_steps
from ..core import CoreCall, Message
from ..templating import render
from ..types import (
    Boolean,
    CallError,
    CallInfo,
    CallOutputChunk,
    CallOutputType,
    CallVars,
    Integer,
    LanguageType,
    Number,
)
from .prompt import LLM_CONTEXT_PROMPT, LLM_DEFAULT_PROMPT, LLM_NO_CONTEXT
from .schema import LLMInput, LLMOutput

_INFO = {
    LanguageType.CHINESE: CallInfo(
        name="大模型", description="以指定的提示词和上下文信息调用大模型，并获得输出。"
    ),
    LanguageType.ENGLISH: CallInfo(
        name="LLM", description="Call the model with the given prompt and context information."
    ),
}


class LLM(CoreCall, input_model=LLMInput, output_model=LLMOutput):
    """Ask the reasoning model a question and stream its reply (seed LLM §3).

    Both prompts are Jinja templates over ``time``, ``question``, ``context``, ``history``,
    ``language`` and ``reasoning``. A ``user_prompt`` left out is the default prompt in the
    task's language.
    """

    to_user: Boolean = Field(default=True, description="Whether the output goes to the user")
    temperature: Number = Field(default=0.7, description="Sampling temperature")
    step_history_size: Integer = Field(
        default=3, ge=0, le=10, description="How many of the latest steps are shown"
    )
    history_length: Integer = Field(
        default=0, ge=0, description="How many of the latest conversation records are sent"
    )
    system_prompt: str = Field(default="You are a helpful assistant.", description="System prompt")
    user_prompt: str = Field(
        default=LLM_DEFAULT_PROMPT[LanguageType.CHINESE], description="User prompt"
    )

    @classmethod
    def info(cls, language: LanguageType = LanguageType.CHINESE) -> CallInfo:
        """Return name and description: 大模型 / LLM.

        Contract: llm.config.1.
        """
        return _INFO[language]

    async def _init(self, call_vars: CallVars) -> LLMInput:
        """Prepare the messages (seed LLM §3.3.3).

        Contract: llm.message.5.
        """
        return LLMInput(message=self._prepare_message(call_vars))

    async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[CallOutputChunk, None]:
        """Stream the reply, without empty chunks; failures are ``CallError`` (seed §3.3.4).

        Contract: llm.exec.1, llm.exec.2, llm.exec.3, llm.exec.4, llm.exec.5, llm.exec.6,
        llm.exec.7, llm.exec.8, llm.exec.9, llm.exec.10.
        """
        try:
            messages = LLMInput.model_validate(input_data).message
            reply = self._llm(messages, streaming=True, temperature=self.temperature)
            async with aclosing(reply) as texts:  # a caller who leaves early ends the request too
                async for text in texts:
                    if text:
                        yield CallOutputChunk(type=CallOutputType.TEXT, content=text)
        except CallError:
            raise
        except Exception as error:
            raise CallError(
                f"the model call of {self.name!r} failed: {str(error) or type(error).__name__}"
            ) from error

    def _prepare_message(self, call_vars: CallVars) -> list[Message]:
        """Build the messages: conversation, system, user (seed LLM §3.3.2 and §7.1).

        Contract: llm.message.1, llm.message.2, llm.message.3, llm.message.4, llm.config.3,
        llm.config.4, llm.render.1, llm.render.2, llm.render.10.
        """
        history = last(call_vars.background.conversation, self.history_length)
        conversation = [
            {"role": record["role"], "content": record["content"]} for record in history
        ]
        variables: dict[str, Any] = {
            "time": clock(call_vars.now or datetime.now()),
            "question": call_vars.question,
            "context": self._render_context(call_vars),
            "history": conversation,
            "language": call_vars.language.value,
            "reasoning": call_vars.thinking,
        }
        user_prompt = self.user_prompt
        if "user_prompt" not in self.model_fields_set:
            user_prompt = LLM_DEFAULT_PROMPT[call_vars.language]
        return [
            *conversation,
            {"role": "system", "content": render("system prompt", self.system_prompt, variables)},
            {"role": "user", "content": render("user prompt", user_prompt, variables)},
        ]

    def _render_context(self, call_vars: CallVars) -> str:
        """Return reasoning and steps as one text, or the sentence that there are none.

        Contract: llm.context.6, llm.context.7, llm.context.8, llm.context.9.
        """
        steps = shown_steps(call_vars, self.step_history_size)
        if not steps and not call_vars.thinking:
            return LLM_NO_CONTEXT[call_vars.language]
        return render(
            "context prompt",
            LLM_CONTEXT_PROMPT[call_vars.language],
            {"reasoning": call_vars.thinking, "context_data": steps},
        ).strip()
