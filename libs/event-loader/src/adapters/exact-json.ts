/**
 * JSON with `rawJSON` and the reviver's `context`. Node has both since version 21, but TypeScript's types do not declare them.
 */
const exact = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): { readonly rawJSON: string };
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
};

/** Matches every text that may contain a number that a double cannot represent exactly. */
const LONG_NUMBER = /[\d.]{16,}|\d[eE][+-]?\d{3}/;

/**
 * Parses JSON and keeps long numbers as they were written. Events are stored unchanged, but JSON.parse would turn
 * 12345678901234567890 into 12345678901234567000. The slow reviver runs only if the text may contain such numbers.
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

/** Turns a long number that `parseExactly` kept into its text; returns other values unchanged. */
export function textOfLongNumber(value: unknown): unknown {
  return exact.isRawJSON(value) ? value.rawJSON : value;
}
