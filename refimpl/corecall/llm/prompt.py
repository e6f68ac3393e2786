"""Prompt templates of the LLM call (seed LLM §4); the English ones are our translation.

Contract: llm.prompt.1, llm.prompt.2, llm.prompt.3, llm.prompt.4, llm.context.8.
"""

from __future__ import annotations

from ..types import LanguageType

LLM_CONTEXT_PROMPT = {
    LanguageType.CHINESE: """\
{% if reasoning %}
以下是AI处理用户指令时所做的思考，在<reasoning>中给出：
<reasoning>
{{ reasoning }}
</reasoning>
{% endif %}
{% if context_data %}
你作为AI，在完成用户指令前，需要获取必要的信息。为此，你调用了一些工具，并获得了它们的输出：
<tool_data>
{% for tool in context_data %}
<name>{{ tool.step_name }}</name>
<description>{{ tool.step_description }}</description>
<output>{{ tool.output_data }}</output>
{% endfor %}
</tool_data>
{% endif %}
""",
    LanguageType.ENGLISH: """\
{% if reasoning %}
The following is the thinking of the AI when processing the user's instruction, given in <reasoning>:
<reasoning>
{{ reasoning }}
</reasoning>
{% endif %}
{% if context_data %}
As an AI, before completing the user's instruction, you need to obtain necessary information. For this purpose, you have called some tools and obtained their outputs:
<tool_data>
{% for tool in context_data %}
<name>{{ tool.step_name }}</name>
<description>{{ tool.step_description }}</description>
<output>{{ tool.output_data }}</output>
{% endfor %}
</tool_data>
{% endif %}
""",
}

LLM_NO_CONTEXT = {
    LanguageType.CHINESE: "无背景信息。",
    LanguageType.ENGLISH: "No background information.",
}

LLM_DEFAULT_PROMPT = {
    LanguageType.CHINESE: """\
<instructions>
  你是一个乐于助人的智能助手。请结合给出的背景信息, 回答用户的提问。
  当前时间：{{ time }}，可以作为时间参照。
  用户的问题将在<user_question>中给出，上下文背景信息将在<context>中给出。
  注意：输出不要包含任何XML标签，不要编造任何信息。若你认为用户提问与背景信息无关，请忽略背景信息直接作答。
</instructions>

<user_question>
  {{ question }}
</user_question>

<context>
  {{ context }}
</context>

现在，输出你的回答：
""",
    LanguageType.ENGLISH: """\
<instructions>
  You are a helpful AI assistant. Please answer the user's question in light of the given background information.
  Current time: {{ time }}, which you may use as a time reference.
  The user's question will be given in <user_question>, and the background information in <context>.
  Note: your output must not contain any XML tags, and you must not make up any information. If you find that the question has nothing to do with the background information, ignore the background and answer directly.
</instructions>

<user_question>
  {{ question }}
</user_question>

<context>
  {{ context }}
</context>

Now, output your answer:
""",
}
