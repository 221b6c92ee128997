import { hasInvisibleCharacters, mixesScripts } from './person-names.ts';
import { realNames } from './testing/real-names.ts';

const names = Object.entries(realNames).flatMap(([language, ofLanguage]) => ofLanguage.map((name) => [language, name] as const));

test('the table has two hundred different names', () => {
  expect(new Set(names.map(([, name]) => name)).size).toBeGreaterThanOrEqual(200);
});

test.each(names)('%s: %s is accepted', (_language, name) => {
  const written = name.normalize('NFC');
  expect([hasInvisibleCharacters(written), mixesScripts(written)]).toEqual([false, false]);
});

test.each([
  ['a zero width space', 'An\u200ba'],
  ['a mark of direction', 'Ana\u200e'],
  ['another mark of direction', '\u200fAna'],
  ['an Arabic letter mark', 'علي\u061c'],
  ['a word joiner', 'An\u2060a'],
  ['a byte order mark', 'An\ufeffa'],
  ['a soft hyphen', 'An\u00ada'],
  ['a combining grapheme joiner', 'An\u034fa'],
  ['a Hangul filler', 'Ana \u3164'],
  ['a half-width Hangul filler', 'Ana\uffa0'],
  ['a Hangul choseong filler', '손\u115f흥민'],
  ['an empty Braille cell', 'Ana\u2800Horvat'],
  ['a Mongolian vowel separator between Latin letters', 'An\u180ea'],
  ['an invisible times sign', 'An\u2062a'],
  ['a tag', 'Ana\u{e0041}'],
  ['an annotation anchor', 'Ana\ufff9'],
  ['a null notehead', 'Ana\u{1d159}'],
  ['a variation selector after a Latin letter', 'An\ufe0fa'],
  ['an ideographic variation selector after a Latin letter', 'Ana\u{e0100}'],
  ['a zero width non-joiner between Latin letters', 'An\u200ca'],
  ['a zero width joiner between Latin letters', 'An\u200da'],
  ['a zero width joiner between Cyrillic letters', 'Ан\u200dа'],
  ['a zero width non-joiner at the end of a Persian name', 'علی\u200c'],
  ['a zero width non-joiner at the beginning of a Persian name', '\u200cعلی'],
  ['two zero width non-joiners', 'مهدوی\u200c\u200cکیا'],
  ['a zero width joiner between letters of two scripts', 'श\u200dی'],
  ['a zero width joiner between Chinese characters', '李\u200d龍'],
  ['a zero width joiner between two emoji', '👩\u200d👧'],
])('hasInvisibleCharacters: %s is found', (_what, name) => {
  expect(hasInvisibleCharacters(name)).toBe(true);
});

test.each([
  ['a Cyrillic а in a Latin word', 'Mаrko'],
  ['a Latin a in a Cyrillic word', 'Мaрко'],
  ['the same in the second word', 'Ana Hоrvat'],
  ['the same behind a hyphen', 'Ana-Mаrija'],
  ['a Greek ο in a Latin word', 'Ivο'],
  ['a Greek Α in a Cyrillic word', 'ΑННА'],
  ['an Armenian օ in a Latin word', 'Ivօ'],
  ['a Cherokee letter in a Latin word', 'ᎪNA'],
  ['a Cyrillic letter in a Japanese word', '佐藤а'],
  ['Hiragana in a Korean word', '손흥민さ'],
  ['Bopomofo in a Japanese word', 'さㄅ'],
  ['Arabic and Hebrew letters', 'محמד'],
  ['a letter of a historic script in a Latin word', 'An𐌀'],
])('mixesScripts: %s is found', (_what, name) => {
  expect(mixesScripts(name)).toBe(true);
});

test.each(['Ana Марија', 'Иван Smith', '𐌲𐌿𐍄𐌰', 'Ana 3', 'Joe (李)', '🏟️ Fan', 'R2-D2', 'Ана-Марија', 'a\u0301'])(
  'mixesScripts: %s is accepted, whose words have one script each',
  (name) => {
    expect(mixesScripts(name)).toBe(false);
  },
);

describe('of every real name', () => {
  const invisible = ['\u200b', '\u200e', '\u200f', '\u2060', '\u3164', '\u00ad', '\ufeff', '\u2800'];

  test('an invisible character at any place is found', () => {
    const missed = names.flatMap(([, name]) => {
      const letters = [...name.normalize('NFC')];
      return letters.flatMap((_letter, at) =>
        invisible
          .map((character) => letters.toSpliced(at, 0, character).join(''))
          .filter((text) => !hasInvisibleCharacters(text)),
      );
    });
    expect(missed).toEqual([]);
  });

  test('a letter of another script beside any letter of it is found', () => {
    const missed = names.flatMap(([, name]) => {
      const letters = [...name.normalize('NFC')];
      return letters.flatMap((letter, at) => {
        // Letters that belong to no script fit to all, and Latin letters to Chinese characters.
        if (!/\p{L}/u.test(letter) || /\p{scx=Zyyy}/u.test(letter)) return [];
        const other = /\p{scx=Cyrl}/u.test(letter) ? 'α' : 'а';
        const text = letters.toSpliced(at + 1, 0, other).join('');
        return mixesScripts(text) ? [] : [text];
      });
    });
    expect(missed).toEqual([]);
  });

  test('two of them side by side are accepted', () => {
    const refused = names
      .map(([, name], at) => `${name} ${names[(at * 37 + 11) % names.length]![1]}`.normalize('NFC'))
      .filter((name) => hasInvisibleCharacters(name) || mixesScripts(name));
    expect(refused).toEqual([]);
  });
});
