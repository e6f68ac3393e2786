"""Prompt templates of the Slot (seed Slot, prompt structure), in both languages.

Sections in the seed's order: instructions, example, context, question, tool_info,
tool_call, output. Variables: ``time``, ``summary``, ``facts``, ``history``, ``question``,
``tool`` (name, description), ``schema`` and ``known`` (JSON texts).
"""

from __future__ import annotations

from ..types import LanguageType

SLOT_GEN_PROMPT = {
    LanguageType.CHINESE: """\
<instructions>
  你是一个可以使用工具的AI助手，正在为一次工具调用生成JSON参数对象。
  背景信息在<context>中，用户的问题在<question>中，工具信息在<tool_info>中，参数的JSON Schema在<tool_call>中。
  要求：
  1. 严格按照JSON Schema输出一个JSON对象，不要编造不存在的字段，也不要编造字段的值。
  2. 字段的值按以下优先级取用：用户输入 > 背景信息 > 历史数据。
  3. 可选字段可以省略；已知参数不必重复输出。
  4. 只输出JSON对象，不要输出解释或其他内容。
  5. <example>仅为示例，不要使用其中的值。
</instructions>

<example>
  <question>明天杭州天气怎么样？</question>
  <tool_call>{"type": "object", "properties": {"city": {"type": "string"}, "date": {"type": "string"}}, "required": ["city", "date"]}</tool_call>
  <output>{"city": "杭州", "date": "明天"}</output>
</example>

<context>
{% if time %}
  当前时间：{{ time }}
{% endif %}
{% if summary %}
  背景总结：{{ summary }}
{% endif %}
{% if facts %}
  事实信息：
{% for fact in facts %}
  - {{ fact }}
{% endfor %}
{% endif %}
{% if history %}
  工具调用历史：
{% for step in history %}
  <name>{{ step.step_name }}</name>
  <description>{{ step.step_description }}</description>
  <output>{{ step.output_data }}</output>
{% endfor %}
{% endif %}
</context>

<question>
  {{ question }}
</question>

<tool_info>
  工具名称：{{ tool.name }}
  工具描述：{{ tool.description }}
</tool_info>

<tool_call>
  {{ schema }}
{% if known %}
  已知参数：{{ known }}
{% endif %}
</tool_call>

现在，在<output>中给出JSON对象：
<output>
""",
    LanguageType.ENGLISH: """\
<instructions>
  You are an AI assistant that can use tools, and you are writing the JSON arguments of one tool call.
  The background is in <context>, the user's question in <question>, the tool in <tool_info>, and the JSON Schema of the arguments in <tool_call>.
  Rules:
  1. Output one JSON object that follows the JSON Schema exactly; invent no fields and no values.
  2. Take each value from the first of these that gives it: user input > background > history.
  3. Optional fields may be left out; known arguments need not be repeated.
  4. Output only the JSON object, no explanation and nothing else.
  5. <example> is only an example; use none of its values.
</instructions>

<example>
  <question>What will the weather be like in Hangzhou tomorrow?</question>
  <tool_call>{"type": "object", "properties": {"city": {"type": "string"}, "date": {"type": "string"}}, "required": ["city", "date"]}</tool_call>
  <output>{"city": "Hangzhou", "date": "tomorrow"}</output>
</example>

<context>
{% if time %}
  Current time: {{ time }}
{% endif %}
{% if summary %}
  Summary: {{ summary }}
{% endif %}
{% if facts %}
  Facts:
{% for fact in facts %}
  - {{ fact }}
{% endfor %}
{% endif %}
{% if history %}
  Earlier tool calls:
{% for step in history %}
  <name>{{ step.step_name }}</name>
  <description>{{ step.step_description }}</description>
  <output>{{ step.output_data }}</output>
{% endfor %}
{% endif %}
</context>

<question>
  {{ question }}
</question>

<tool_info>
  Tool name: {{ tool.name }}
  Tool description: {{ tool.description }}
</tool_info>

<tool_call>
  {{ schema }}
{% if known %}
  Known arguments: {{ known }}
{% endif %}
</tool_call>

Now give the JSON object in <output>:
<output>
""",
}

SLOT_MISSING_PROMPT = {
    LanguageType.CHINESE: """\
还缺少或不符合要求的参数：{{ missing }}
已知参数：{{ known }}
请根据上文，按以下JSON Schema只输出包含这些参数的JSON对象；上文没有的值不要编造：
{{ schema }}
""",
    LanguageType.ENGLISH: """\
Still missing or invalid: {{ missing }}
Known arguments: {{ known }}
From what is given above, output only a JSON object with these arguments that follows the JSON Schema below; do not invent values that are not given:
{{ schema }}
""",
}
