// The openai package against a base URL: prints one JSON object of what it got.
import OpenAI, { NotFoundError } from "openai";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "sk-synthetic-node", maxRetries: 1 });
const messages = (content) => [{ role: "user", content }];
const ask = (content, more = {}) => ({ model: "synthetic", messages: messages(content), ...more });

const whole = await client.chat.completions.create(ask("whole", { stream: false }));
const stream = await client.chat.completions.create(ask("stream", { stream: true }));
const pieces = [];
for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta?.content ?? "");

const calls = await client.chat.completions.create(ask("call", { stream: false }));

let miss = null;
try {
  await client.chat.completions.create(ask("never recorded", { stream: false }));
} catch (error) {
  miss = { known: error instanceof NotFoundError, code: error.code, message: error.message };
}

const models = [];
for await (const model of client.models.list()) models.push(model.id);

const by_case = await Promise.all(
  ["a", "b"].map(async (name) => {
    const headers = { "x-callbench-case": name };
    const answer = await client.chat.completions.create(ask("same", { stream: false }), { headers });
    return answer.choices[0].message.content;
  }),
);

console.log(
  JSON.stringify({
    whole: whole.choices[0].message.content,
    pieces: pieces.filter((piece) => piece !== ""),
    call: calls.choices[0].message.tool_calls[0].function,
    miss,
    models,
    by_case,
  }),
);
