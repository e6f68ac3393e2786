/** Operations on schemas: checking, converting, nulls. */

import { SlotProcessor } from '../schema/processor.mjs';

const processor = (input) => new SlotProcessor(input.get('schema'));
const converted = (input) => processor(input).convert(input.get('data'), input.get('base') ?? null);

export const schemas = {
  'slot.check': (input) => processor(input).check(input.get('data')),
  'slot.places': (input) => processor(input).places(input.get('data')).map(({ pointer }) => pointer),
  'slot.convert': converted,
  'slot.convert_names': (input) => [...converted(input).keys()],
  'slot.process': (input) => processor(input).process(input.has('text') ? input.get('text') : input.get('value')),
  'slot.add_null': (input) => processor(input).addNull(),
};
