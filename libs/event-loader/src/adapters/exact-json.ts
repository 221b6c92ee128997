/** Node has both since version 21; the types do not know them yet. */
const exact = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): { readonly rawJSON: string };
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
};

/** What may stand for a number that a double cannot carry. */
const LONG_NUMBER = /[\d.]{16,}|\d[eE][+-]?\d{3}/;

/**
 * JSON whose long numbers stay as they were written: an event is kept as it came, and 12345678901234567890 is not
 * 12345678901234567000. Only a text that may have such numbers pays for looking at each.
 */
export function parseExactly(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source && isInexact(value, source)
      ? exact.rawJSON(source)
      : value,
  );
}

function isInexact(value: number, source: string): boolean {
  const digits = source
    .replace(/[eE].*$/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '');
  return !Number.isFinite(value) || digits.length > 15 || (value === 0 && digits !== '');
}

/** An id that was written as a long number, as its text. */
export function textOfLongNumber(value: unknown): unknown {
  return exact.isRawJSON(value) ? value.rawJSON : value;
}
