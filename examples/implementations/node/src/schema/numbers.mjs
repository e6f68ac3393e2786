/** Arithmetic of schema keywords: exact on integers of any length and on decimals. */

/** A double stands for the shortest decimal that reads back as it: `[digits, exponent]` of a power of ten. */
function decimal(value) {
  if (typeof value === 'bigint') return [value, 0];
  const [mantissa, exponent = '0'] = String(value).split('e');
  const [whole, fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

/** Whether the quotient of the two decimals is a whole number. */
export function isMultiple(value, divisor) {
  const [a, aExponent] = decimal(value);
  const [b, bExponent] = decimal(divisor);
  const least = Math.min(aExponent, bExponent);
  return (a * 10n ** BigInt(aExponent - least)) % (b * 10n ** BigInt(bExponent - least)) === 0n;
}

/** Code points, for lengths: not UTF-16 units. */
export function length(text) {
  let count = 0;
  for (const _ of text) count += 1; // eslint-disable-line no-unused-vars
  return count;
}
