"""Prompt templates of the Slot, in both languages.

Sections in the order of the contract: instructions, example, context, question, tool_info,
tool_call, output. They are short, and the question is repeated before the output, because
small models lose it behind a page of instructions. Variables: ``time``, ``summary``,
``facts``, ``history``, ``question``, ``tool`` (name, description), ``schema`` and ``known``
(JSON texts), ``language``.

Recorded traffic depends on every character here: change it, and record again.

Contract: slot.prompt.1, slot.prompt.2, slot.prompt.3, slot.prompt.4, slot.prompt.8, slot.stage2.4,
slot.stage2.5.
"""

from __future__ import annotations

from ..types import LanguageType

_ZH = """\
<instructions>
根据问题和背景信息，填写一次工具调用的参数。
每个参数的值按以下优先级取用：用户输入 > 背景信息 > 历史工具输出。不要编造：没有给出的参数不要填，可选参数可以省略。
只输出一个符合JSON Schema的JSON对象。不要使用示例中的值。
</instructions>

<example>
<question>明天杭州天气怎么样？</question>
<output>{"city": "杭州", "date": "明天"}</output>
</example>

<context>
{% if time %}
当前时间：{{ time }}
{% endif %}
{% if summary %}
背景总结：{{ summary }}
{% endif %}
{% for fact in facts %}
- {{ fact }}
{% endfor %}
{% for step in history %}
<tool_output>
<name>{{ step.step_name }}</name>
<description>{{ step.step_description }}</description>
<output>{{ step.output_data }}</output>
</tool_output>
{% endfor %}
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

针对问题“{{ question }}”，以JSON给出{{ tool.name }}的参数：
<output>
"""

_EN = """\
<instructions>
Fill in the arguments of a tool call from the question and the context.
Take each value from the first of these that gives it: user input > background > earlier tool outputs. Invent nothing: leave out what is not given; optional arguments may be left out.
Output only one JSON object that follows the JSON Schema. Use no values of the example.
</instructions>

<example>
<question>What will the weather be like in Hangzhou tomorrow?</question>
<output>{"city": "Hangzhou", "date": "tomorrow"}</output>
</example>

<context>
{% if time %}
Current time: {{ time }}
{% endif %}
{% if summary %}
Summary: {{ summary }}
{% endif %}
{% for fact in facts %}
- {{ fact }}
{% endfor %}
{% for step in history %}
<tool_output>
<name>{{ step.step_name }}</name>
<description>{{ step.step_description }}</description>
<output>{{ step.output_data }}</output>
</tool_output>
{% endfor %}
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

Answer the question "{{ question }}" with the arguments of {{ tool.name }} as JSON:
<output>
"""

SLOT_GEN_PROMPT = {LanguageType.CHINESE: _ZH, LanguageType.ENGLISH: _EN}

SLOT_MISSING_PROMPT = {
    LanguageType.CHINESE: """\
还缺少或不符合要求的参数：{{ missing }}
已知参数：{{ known }}
请根据上文，只输出包含这些参数的JSON对象，符合以下JSON Schema；上文没有给出的值不要编造：
{{ schema }}
""",
    LanguageType.ENGLISH: """\
Still missing or invalid: {{ missing }}
Known arguments: {{ known }}
From what is given above, output only a JSON object with these arguments that follows the JSON Schema below; do not invent values that are not given:
{{ schema }}
""",
}
