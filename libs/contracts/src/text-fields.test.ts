import { emailAddress, personName, plainText } from './text-fields.ts';

test.each([
  ['Ana Horvat', 'Ana Horvat'],
  [' Željko Đurić ', 'Željko Đurić'],
  ['Zoe\u0301', 'Zoé'],
  ["O'Neill-Šimić <b>", "O'Neill-Šimić <b>"],
  ['नमिता', 'नमिता'],
  ['李小龍', '李小龍'],
  ['🏟️ Fan', '🏟️ Fan'],
])('personName: %j is accepted', (given, kept) => {
  expect(personName.parse(given)).toBe(kept);
});

test.each([
  ['an empty text', ''],
  ['only spaces', '   '],
  ['a NUL character', 'Ana\0'],
  ['a line break', 'Ana\nBcc: all'],
  ['half a surrogate pair', 'Ana \ud83d'],
  ['a mark that changes the text direction', 'Ana \u202e tavroH'],
  ['nine stacked marks', `A${'\u0316'.repeat(9)}`],
  ['only a zero width space', '\u200b'],
  ['only a Hangul filler', '\u3164'],
  ['a zero width space in it', 'An\u200ba'],
  ['a joiner between Latin letters', 'An\u200da'],
  ['a Cyrillic letter in a Latin word', 'M\u0430rko'],
  ['more than 100 characters', 'a'.repeat(101)],
  ['a number', 7],
])('personName: %s is refused', (_, given) => {
  expect(personName.safeParse(given).success).toBe(false);
});

test.each(['Kluba navijača «Torcida» – sjever', 'a\u200bb', '🏟️', '=1+1', '👩‍👩‍👧 obitelji'])('plainText: %j is accepted', (text) => {
  expect(plainText(100).parse(text)).toBe(text);
});

test.each([
  ['an empty text', ''],
  ['a space at the end', 'a '],
  ['a NUL character', 'a\0'],
  ['a line break', 'a\nb'],
  ['a line separator', 'a\u2028b'],
  ['half a surrogate pair', 'a\ud83d'],
  ['a mark that changes the text direction', 'a\u202eb'],
  ['only a zero width space', '\u200b'],
  ['more characters than allowed', 'a'.repeat(101)],
])('plainText: %s is refused', (_, text) => {
  expect(plainText(100).safeParse(text).success).toBe(false);
});

test.each(['ana@example.com', 'a.b+c@sub.example.hr'])('emailAddress: %j is accepted', (address) => {
  expect(emailAddress.parse(address)).toBe(address);
});

test.each(['ana', 'ana@', 'ana@example', 'a na@example.com', 'ana@example.com\r\nBcc: x@y.hr', `${'a'.repeat(250)}@example.com`])(
  'emailAddress: %j is refused',
  (address) => {
    expect(emailAddress.safeParse(address).success).toBe(false);
  },
);
