import { emailAddress, personName } from './text-fields.ts';

test.each([
  ['Ana Horvat', 'Ana Horvat'],
  [' Željko Đurić ', 'Željko Đurić'],
  ['Zoe\u0301', 'Zoé'],
  ["O'Neill-Šimić <b>", "O'Neill-Šimić <b>"],
  ['नमिता', 'नमिता'],
  ['李小龍', '李小龍'],
  ['🏟️ Fan', '🏟️ Fan'],
])('%j is a name', (given, kept) => {
  expect(personName.parse(given)).toBe(kept);
});

test.each([
  ['nothing', ''],
  ['blanks', '   '],
  ['NUL', 'Ana\0'],
  ['a line break', 'Ana\nBcc: all'],
  ['half a surrogate pair', 'Ana \ud83d'],
  ['a mark that turns the direction', 'Ana \u202e tavroH'],
  ['a pile of marks', `A${'\u0316'.repeat(9)}`],
  ['too much', 'a'.repeat(101)],
  ['a number', 7],
])('%s is not a name', (_, given) => {
  expect(personName.safeParse(given).success).toBe(false);
});

test.each(['ana@example.com', 'a.b+c@sub.example.hr'])('%s is an address', (address) => {
  expect(emailAddress.parse(address)).toBe(address);
});

test.each(['ana', 'ana@', 'ana@example', 'a na@example.com', 'ana@example.com\r\nBcc: x@y.hr', `${'a'.repeat(250)}@example.com`])(
  '%j is not an address',
  (address) => {
    expect(emailAddress.safeParse(address).success).toBe(false);
  },
);
