/*
 * Text in the font Helvetica for PDF files. Every PDF reader has this font, so no font is embedded. The standard encoding
 * (WinAnsi) has no Croatian letters, but the font has them as named glyphs. Our encoding gives unused codes to these glyphs and
 * to glyphs of some other languages.
 */

/**
 * The letters that get the codes from 128 on instead of the letters of WinAnsi. All other codes are as in WinAnsi: ASCII and
 * Latin-1.
 */
const EXTRA_LETTERS = [
  'Č Ccaron, č ccaron, Ć Cacute, ć cacute, Đ Dcroat, đ dcroat, Š Scaron, š scaron, Ž Zcaron, ž zcaron',
  '– endash, — emdash, ‘ quoteleft, ’ quoteright, “ quotedblleft, ” quotedblright, € Euro, Ł Lslash, ł lslash',
  'Ő Ohungarumlaut, ő ohungarumlaut, Ű Uhungarumlaut, ű uhungarumlaut, ę eogonek, ą aogonek, Ś Sacute, ś sacute',
  'ě ecaron, ř rcaron, ı dotlessi',
].flatMap((line) => line.split(', ').map((pair) => ({ letter: pair.slice(0, 1), glyph: pair.slice(2) })));
const FIRST_EXTRA_CODE = 128;

/** The text of the entry /Differences in the PDF file, which says which codes have other letters than WinAnsi. */
export const fontDifferences = `${FIRST_EXTRA_CODE} ${EXTRA_LETTERS.map(({ glyph }) => `/${glyph}`).join(' ')}`;

const extraCodes = new Map(EXTRA_LETTERS.map(({ letter }, index) => [letter, FIRST_EXTRA_CODE + index]));
const UNKNOWN = '?'.charCodeAt(0);

/**
 * Encodes text for the font. A letter that the encoding lacks becomes its base letter (ș → s), or `?` if the encoding lacks the
 * base letter, too.
 */
export function encodeText(text: string): number[] {
  return [...text.normalize('NFC')].map((letter) => codeOf(letter) ?? codeOf(letter.normalize('NFD').charAt(0)) ?? UNKNOWN);
}

function codeOf(letter: string): number | undefined {
  const extraCode = extraCodes.get(letter);
  if (extraCode !== undefined) return extraCode;
  const code = letter.codePointAt(0) ?? 0;
  return (code >= 32 && code <= 126) || (code >= 160 && code <= 255) ? code : undefined;
}

/** The two fonts of a ticket: Helvetica and Helvetica-Bold. */
export type FontWeight = 'regular' | 'bold';

/** Widths of the characters 32 to 126, in thousandths of the font size, from Adobe's font metrics. */
const WIDTHS: Readonly<Record<FontWeight, readonly number[]>> = {
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
const DEFAULT_WIDTH = 1000;

function widths(...lines: readonly string[]): number[] {
  return lines.join(' ').split(' ').map(Number);
}

/** Width of a text in points. An accented letter counts with the width of its base letter. */
export function textWidth(text: string, size: number, weight: FontWeight): number {
  const letters = [...text.normalize('NFC')].map((letter) => letter.normalize('NFD').charCodeAt(0));
  return letters.reduce((sum, code) => sum + (WIDTHS[weight][code - 32] ?? DEFAULT_WIDTH), 0) * (size / 1000);
}
