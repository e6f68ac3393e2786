/** Operations on schemas: checking, converting, nulls. */

import { object } from '../json/values.mjs';
import { SlotProcessor } from '../schema/processor.mjs';

const processor = (input) => new SlotProcessor(input.get('schema'));
const converted = (input) => processor(input).convert(input.get('data'), input.get('base') ?? null);

const pointers = (entries) => entries.map(({ pointer }) => pointer);

function merged(input) {
  const { data, filled, rejected, undeclared } = processor(input).merge(input.get('known'), input.get('new'));
  return object({ data, filled, rejected: pointers(rejected), undeclared: pointers(undeclared) });
}

const refused = (entries) => entries.map(({ pointer, reason }) => object({ pointer, reason }));

function refusals(input) {
  const { rejected, undeclared } = processor(input).merge(input.get('known'), input.get('new'));
  return [...refused(rejected), ...refused(undeclared)];
}

export const schemas = {
  'slot.check': (input) => processor(input).check(input.get('data')),
  'slot.places': (input) => pointers(processor(input).places(input.get('data'))),
  'slot.convert': converted,
  'slot.convert_names': (input) => [...converted(input).keys()],
  'slot.process': (input) => processor(input).process(input.has('text') ? input.get('text') : input.get('value')),
  'slot.merge': merged,
  'slot.refusals': refusals,
  'slot.ask_schema': (input) => processor(input).ask(input.get('known'), { optional: input.get('optional') === true }).schema,
  'slot.add_null': (input) => processor(input).addNull(),
};
