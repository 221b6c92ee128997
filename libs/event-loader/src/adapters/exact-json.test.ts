import { parseExactly, textOfLongNumber } from './exact-json.ts';

test.each([
  '{"a":12345678901234567890}',
  '{"a":[9007199254740993,{"b":-9223372036854775807}]}',
  '{"a":0.12345678901234567891}',
  '{"a":1e400}',
  '{"a":1e-400}',
  '{"a":1,"b":"12345678901234567890","c":null,"d":true}',
])('the JSON text %s is unchanged after parseExactly and JSON.stringify', (text) => {
  expect(JSON.stringify(parseExactly(text))).toBe(text);
});

test('parseExactly: numbers that a double represents exactly become JavaScript numbers', () => {
  expect(parseExactly('{"a":1,"b":1.50,"c":1e3,"long":"0123456789012345678"}')).toEqual({
    ...{ a: 1, b: 1.5, c: 1000 },
    long: '0123456789012345678',
  });
});

test('textOfLongNumber: a long number becomes its text, other values stay as they are', () => {
  const { id } = parseExactly('{"id":9223372036854775807}') as { id: unknown };
  expect(textOfLongNumber(id)).toBe('9223372036854775807');
  expect([textOfLongNumber(7), textOfLongNumber('x'), textOfLongNumber(undefined)]).toEqual([7, 'x', undefined]);
});

test('parseExactly throws a SyntaxError for text that is not JSON', () => {
  expect(() => parseExactly('{"a":12345678901234567890')).toThrow(SyntaxError);
});
