import { MAX_CSV_BYTES, csvRows, listKeyOf, readCsvFile } from './csv-file.ts';

const fileOf = (bytes: Uint8Array<ArrayBuffer>, size = bytes.length) => ({ size, arrayBuffer: async () => bytes.buffer });
const utf8 = (text: string) => new TextEncoder().encode(text);

test('a file is read as UTF-8; a byte order mark is not a part of it', async () => {
  expect(await readCsvFile(fileOf(utf8('\ufeffemail;name\na@b.hr;Đurđica Šćepanović-Žižić')))).toEqual({
    text: 'email;name\na@b.hr;Đurđica Šćepanović-Žižić',
  });
});

test('a file in the encoding of old Windows is refused instead of being damaged', async () => {
  // "Žižić" in windows-1250
  expect(await readCsvFile(fileOf(new Uint8Array([0x8e, 0x69, 0x9e, 0x69, 0xe6])))).toEqual({ fault: 'notUtf8' });
});

test('a file above the limit of the API is not sent', async () => {
  expect(await readCsvFile(fileOf(utf8('a'), MAX_CSV_BYTES + 1))).toEqual({ fault: 'tooLarge' });
  expect(await readCsvFile(fileOf(utf8('a'), MAX_CSV_BYTES))).toEqual({ text: 'a' });
});

test.each<[string, string, string[]]>([
  ['line ends of Windows', 'email\r\na@b.hr\r\nc@d.hr\r\n', ['a@b.hr', 'c@d.hr']],
  ['empty rows', 'email;name\n\n;;\na@b.hr;Ana\n', ['a@b.hr;Ana']],
  ['a quoted end of line', 'email,note\na@b.hr,"two\nlines"\nc@d.hr,', ['a@b.hr,"two lines"', 'c@d.hr,']],
  ['doubled quotes', 'email,name\na@b.hr,"Ana ""Nana"" Horvat"\nc@d.hr,Ivo', ['a@b.hr,"Ana ""Nana"" Horvat"', 'c@d.hr,Ivo']],
  ['only a header', 'email;name', []],
])('the rows of a file with %s', (_case, text, rows) => {
  expect(csvRows(text)).toEqual(rows);
});

test.each([
  ['sponzori.csv', 'sponzori.csv'],
  [' a\tb\n', 'a b'],
  ['x'.repeat(120), 'x'.repeat(100)],
])('the name of a list %j is sent as %j', (name, key) => {
  expect(listKeyOf(name)).toBe(key);
});
