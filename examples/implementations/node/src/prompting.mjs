/** What the prompts of calls have in common: rendering, clocks, JSON that cannot close its element. */

import { CallError } from './errors.mjs';
import { jsonForm } from './json/form.mjs';
import { object } from './json/values.mjs';
import { toText } from './json/write.mjs';
import { TemplateError } from './template/lex.mjs';
import { render } from './template/render.mjs';

export const message = (role, content) => object({ role, content });

/** Role and content of a conversation record; what else it holds is sent to no model. */
export const plainTurn = (record) => message(record.get('role'), record.get('content'));

/** The text of a template; whatever goes wrong is a call error that names the prompt. */
export function renderPrompt(name, template, variables) {
  try {
    return render(template, new Map(Object.entries(variables)));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const where = error.line ? `, line ${error.line}` : '';
    throw new CallError(`the ${name} does not render${where}: ${error.message}`, object({ prompt: name }), { cause: error });
  }
}

/** The task's clock, as it stands on the clock it is given on. */
export const clockText = (now) => now.slice(0, 19).replace('T', ' ');

const two = (number) => String(number).padStart(2, '0');

/** The local wall clock. */
export function wallClock(date = new Date()) {
  const day = [String(date.getFullYear()).padStart(4, '0'), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** JSON in which `</` is `<\/`, the same JSON: what it holds cannot end the element it stands in. */
export const shownJson = (value) => toText(jsonForm(value)).replaceAll('</', '<\\/');

/** A step as templates see it. */
export function shownStep(record) {
  let output;
  try {
    output = shownJson(record.get('outputData'));
  } catch (error) {
    throw new CallError(`the output of step ${record.get('stepId')} cannot be shown: ${error.message}`);
  }
  return object({ step_name: record.get('stepName'), step_description: record.get('stepDescription'), output_data: output });
}
