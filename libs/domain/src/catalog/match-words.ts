/** Letters that no Unicode decomposition changes, with what people type for them on another keyboard. */
const LETTERS: Readonly<Record<string, string>> = {
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŋ: 'n',
  ø: 'o',
  ŧ: 't',
  æ: 'ae',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
  ς: 'σ',
};
const FOLDED_LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');
/** The marks of a Latin letter. Other scripts keep their marks: Cyrillic й is not и. */
const LATIN_MARKS = /(\p{Script=Latin})\p{M}+/gu;
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}]+/u;

/** The text in lower case, and Latin letters without their accents: "Đorđević" becomes "dordevic". */
export function folded(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(LATIN_MARKS, '$1')
    .normalize('NFC')
    .replaceAll(FOLDED_LETTER, (letter) => LETTERS[letter] ?? letter);
}

/**
 * The words of a text for the search, folded. They contain only letters, digits and marks, so that they need no escaping in the
 * text formats of PostgreSQL. The index and the query both use this function, so they cannot disagree.
 */
export function wordsOf(text: string): string[] {
  return folded(text).split(BETWEEN_WORDS).filter(Boolean);
}

/** The words of a match as a PostgreSQL tsvector: the teams have weight A, the venue has weight B. */
export function matchVector({ home, away, venue }: { home: string; away: string; venue: string }): string {
  const weighted = [
    ...wordsOf(`${home} ${away}`).map((word) => ({ word, weight: 'A' })),
    ...wordsOf(venue).map((word) => ({ word, weight: 'B' })),
  ];
  return weighted.map(({ word, weight }, index) => `'${word}':${index + 1}${weight}`).join(' ');
}

/**
 * The search text as a PostgreSQL tsquery: every word must match, the last one as a prefix. Undefined for a text without words,
 * which restricts nothing.
 */
export function matchQueryOf(text: string): string | undefined {
  const words = wordsOf(text).map((word) => `'${word}'`);
  return words.length > 0 ? `${words.join(' & ')}:*` : undefined;
}
