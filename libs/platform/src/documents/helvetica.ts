/*
 * Helvetica as every PDF reader has it: no font travels with the file. Its glyphs are reached by name, so an encoding of our own
 * brings the letters of Croatian and its neighbours, which WinAnsi lacks.
 */

/** What stands at 128 to 159 instead of WinAnsi's; everything else is WinAnsi: ASCII and Latin-1. */
const OWN: readonly (readonly [letter: string, glyph: string])[] = [
  ...([
    ['Č', 'Ccaron'],
    ['č', 'ccaron'],
    ['Ć', 'Cacute'],
    ['ć', 'cacute'],
    ['Đ', 'Dcroat'],
    ['đ', 'dcroat'],
    ['Š', 'Scaron'],
    ['š', 'scaron'],
    ['Ž', 'Zcaron'],
    ['ž', 'zcaron'],
  ] as const),
  ...([
    ['–', 'endash'],
    ['—', 'emdash'],
    ['‘', 'quoteleft'],
    ['’', 'quoteright'],
    ['“', 'quotedblleft'],
    ['”', 'quotedblright'],
    ['€', 'Euro'],
    ['Ł', 'Lslash'],
    ['ł', 'lslash'],
    ['Ő', 'Ohungarumlaut'],
    ['ő', 'ohungarumlaut'],
    ['Ű', 'Uhungarumlaut'],
    ['ű', 'uhungarumlaut'],
    ['ę', 'eogonek'],
    ['ą', 'aogonek'],
    ['Ś', 'Sacute'],
    ['ś', 'sacute'],
    ['ě', 'ecaron'],
    ['ř', 'rcaron'],
    ['ı', 'dotlessi'],
  ] as const),
];
const FIRST_OWN = 128;

/** The entry /Differences of the font's encoding. */
export const differences = `${FIRST_OWN} ${OWN.map(([, glyph]) => `/${glyph}`).join(' ')}`;

const codes = new Map(OWN.map(([letter], index) => [letter, FIRST_OWN + index]));
const UNKNOWN = '?'.charCodeAt(0);

/** The text as codes of the font. A letter it lacks loses its marks; what has none of them is a question mark. */
export function encoded(text: string): number[] {
  return [...text.normalize('NFC')].map((letter) => codeOf(letter) ?? codeOf(letter.normalize('NFD').charAt(0)) ?? UNKNOWN);
}

function codeOf(letter: string): number | undefined {
  const own = codes.get(letter);
  if (own !== undefined) return own;
  const code = letter.codePointAt(0) ?? 0;
  return (code >= 32 && code <= 126) || (code >= 160 && code <= 255) ? code : undefined;
}

export type Weight = 'regular' | 'bold';

/** Thousandths of the size, from 32 to 126, as Adobe's metrics say. */
const WIDTHS: Readonly<Record<Weight, readonly number[]>> = {
  regular: widths(
    '278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556',
    '1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556',
    '333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584',
  ),
  bold: widths(
    '278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 584 584 584 611',
    '975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556',
    '333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584',
  ),
};
const WIDEST = 1000;

function widths(...lines: readonly string[]): number[] {
  return lines.join(' ').split(' ').map(Number);
}

/** In points. A letter with marks is as wide as the one under them. */
export function widthOf(text: string, size: number, weight: Weight): number {
  const letters = [...text.normalize('NFC')].map((letter) => letter.normalize('NFD').charCodeAt(0));
  return letters.reduce((sum, code) => sum + (WIDTHS[weight][code - 32] ?? WIDEST), 0) * (size / 1000);
}
