import { folded, matchQueryOf, matchVector, wordsOf } from './match-words.ts';

test.each([
  ['Đorđević', 'dordevic'],
  ['ŠIBENIK Čakovec Ćićo Žepče', 'sibenik cakovec cico zepce'],
  ['Łódź', 'lodz'],
  ['Tromsø', 'tromso'],
  ['Preußen', 'preussen'],
  ['PREUẞEN', 'preussen'],
  ['Ærø Œuvre', 'aero oeuvre'],
  ['İstanbul ısı', 'istanbul isi'],
  ['Þór Ðð', 'thor dd'],
  ['Malmö São Núñez', 'malmo sao nunez'],
  ['Динамо Йорк', 'динамо йорк'],
  ['ΟΛΥΜΠΙΑΚΟΣ', 'ολυμπιακοσ'],
  ['Άρης', 'άρησ'],
  ['東京 1ª', '東京 1ª'],
])('%s is folded to %s', (text, expected) => {
  expect(folded(text)).toBe(expected);
  expect(folded(text.normalize('NFD'))).toBe(expected);
  expect(folded(expected)).toBe(expected);
});

test('a Cyrillic letter with a mark stays another letter than the one without', () => {
  expect(folded('Й')).not.toBe(folded('И'));
});

test('words are separated by everything that is no letter, digit or mark', () => {
  expect(wordsOf(`  NK Osijek-2/"Opus" O'Brien\\x  U-21 `)).toEqual(['nk', 'osijek', '2', 'opus', 'o', 'brien', 'x', 'u', '21']);
});

test('the teams have weight A and the venue has weight B', () => {
  expect(matchVector({ home: 'HNK Šibenik', away: 'Rijeka', venue: 'Rujevica Rijeka' })).toBe(
    `'hnk':1A 'sibenik':2A 'rijeka':3A 'rujevica':4B 'rijeka':5B`,
  );
  expect(matchVector({ home: '***', away: '-', venue: '!' })).toBe('');
});

describe('a search text', () => {
  test.each([
    ['dordevic', `'dordevic':*`],
    ['Dinamo Đor', `'dinamo' & 'dor':*`],
    ['  a   b  ', `'a' & 'b':*`],
    [`a & b | !c`, `'a' & 'b' & 'c':*`],
    [`'a' <-> (b:*) \\'; drop`, `'a' & 'b' & 'drop':*`],
    ['"split', `'split':*`],
    ['x:A*', `'x' & 'a':*`],
  ])('%s becomes the query %s', (text, query) => {
    expect(matchQueryOf(text)).toBe(query);
  });

  test.each(['', '   ', '&', `'`, `"()!|:*<->\\`])('%p has no words and restricts nothing', (text) => {
    expect(matchQueryOf(text)).toBeUndefined();
  });
});
