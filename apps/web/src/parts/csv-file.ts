/** The largest file that the API accepts. */
export const MAX_CSV_BYTES = 2_000_000;

export type CsvFault = 'tooLarge' | 'notUtf8';

/**
 * The text of a CSV file, or why it cannot be sent. A browser would replace what is not UTF-8 by `�` without a word, so this is
 * checked here: Excel saves CSV in the old encoding of the country unless asked otherwise.
 */
export async function readCsvFile(file: Pick<File, 'size' | 'arrayBuffer'>): Promise<{ text: string } | { fault: CsvFault }> {
  if (file.size > MAX_CSV_BYTES) return { fault: 'tooLarge' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()) };
  } catch {
    return { fault: 'notUtf8' };
  }
}

/**
 * The rows of a CSV text as they are written, without its header, for the verdicts to stand beside. A quoted cell may contain
 * ends of lines. Rows without content are not counted by the API.
 */
export function csvRows(text: string): string[] {
  const rows: string[] = [];
  let row = '';
  let isQuoted = false;
  for (const line of text.split(/\r?\n/)) {
    row += isQuoted ? ` ${line}` : line;
    if ((line.split('"').length - 1) % 2 === 1) isQuoted = !isQuoted;
    if (isQuoted) continue;
    rows.push(row);
    row = '';
  }
  return rows.filter((each) => /[^\s,;"]/.test(each)).slice(1);
}

/** A name for a list, as the API accepts it: one line of at most 100 characters. */
export const listKeyOf = (name: string): string =>
  name
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, 100)
    .trim();
