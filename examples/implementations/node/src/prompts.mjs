/** The texts that models are shown. Templates are the contract's, to the letter: recorded traffic depends on them. */

export const SYSTEM_PROMPT = 'You are a helpful assistant.';

/** What the task has done so far: reasoning and tool outputs. */
export const CONTEXT_PROMPTS = {
  zh: `{% if reasoning %}
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
`,
  en: `{% if reasoning %}
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
`,
};

export const NO_CONTEXT = { zh: '无背景信息。', en: 'No background information.' };

/** The user prompt of an LLM call that has none of its own. */
export const DEFAULT_PROMPTS = {
  zh: `<instructions>
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
`,
  en: `<instructions>
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
`,
};

/** Stage 1 of the Slot. */
export const SLOT_PROMPTS = {
  zh: `<instructions>
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
`,
  en: `<instructions>
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
`,
};

/** Stage 2 of the Slot: what is still missing. */
export const MISSING_PROMPTS = {
  zh: `还缺少或不符合要求的参数：{{ missing }}
已知参数：{{ known }}
请根据上文，只输出包含这些参数的JSON对象，符合以下JSON Schema；上文没有给出的值不要编造：
{{ schema }}
`,
  en: `Still missing or invalid: {{ missing }}
Known arguments: {{ known }}
From what is given above, output only a JSON object with these arguments that follows the JSON Schema below; do not invent values that are not given:
{{ schema }}
`,
};
