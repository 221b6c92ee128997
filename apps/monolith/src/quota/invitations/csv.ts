/** Thrown for a text that is not CSV. */
export class BrokenCsv extends Error {}

type Delimiter = ',' | ';';

/**
 * The records of a CSV text (RFC 4180), each with its cells, at most `maxRecords` of them. The first line decides between `,` and
 * `;`. A byte order mark and empty lines are skipped; lines end with CRLF or LF. Cells lose the spaces around them, except those
 * in quotes. Nothing is interpreted: a formula is a text.
 */
export function parseCsv(text: string, maxRecords: number): string[][] {
  const start = text.startsWith('\ufeff') ? 1 : 0;
  const delimiter = /^[^\r\n]*;/.test(text.slice(start)) ? ';' : ',';
  const records: string[][] = [];
  for (let at = start; at < text.length && records.length < maxRecords;) {
    const record = recordAt(text, at, delimiter);
    at = record.end;
    if (record.cells.some((cell) => cell !== '')) records.push(record.cells);
  }
  return records;
}

/** The record that begins at this index, and the index behind its end of line. */
function recordAt(text: string, start: number, delimiter: Delimiter): { cells: string[]; end: number } {
  const cells: string[] = [];
  for (let at = start; ;) {
    const { cell, end } = text[at] === '"' ? quotedCellAt(text, at) : plainCellAt(text, at, delimiter);
    cells.push(cell);
    if (text[end] === delimiter) at = end + 1;
    else if (end >= text.length) return { cells, end };
    else if (text[end] === '\n') return { cells, end: end + 1 };
    else if (text.startsWith('\r\n', end)) return { cells, end: end + 2 };
    else throw new BrokenCsv('there is text behind the closing quote of a cell');
  }
}

function plainCellAt(text: string, start: number, delimiter: Delimiter): { cell: string; end: number } {
  let end = start;
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n') end += 1;
  if (text[end] === '\n' && text[end - 1] === '\r' && end > start) end -= 1;
  return { cell: text.slice(start, end).trim(), end };
}

/** A doubled quote in a quoted cell is one quote. The cell may contain delimiters and ends of lines. */
function quotedCellAt(text: string, start: number): { cell: string; end: number } {
  let cell = '';
  for (let at = start + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) throw new BrokenCsv('a cell has an opening quote, but no closing one');
    cell += text.slice(at, quote);
    if (text[quote + 1] !== '"') return { cell, end: quote + 1 };
    cell += '"';
    at = quote + 2;
  }
}
