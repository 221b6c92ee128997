import { BrokenCsv, parseCsv } from './csv.ts';

test.each<[what: string, text: string, records: string[][]]>([
  [
    'commas',
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'semicolons, decided by the first line',
    'a;b\n1,5;2\n',
    [
      ['a', 'b'],
      ['1,5', '2'],
    ],
  ],
  [
    'CRLF at the end of lines',
    'a,b\r\n1,2\r\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'no end of line at the end',
    'a,b\n1,2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'a byte order mark',
    '\ufeffa;b\n1;2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'quotes around cells',
    '"a","b"\n"1","2"',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'a delimiter in quotes',
    'a,b\n"1,5",2',
    [
      ['a', 'b'],
      ['1,5', '2'],
    ],
  ],
  [
    'an end of line in quotes',
    'a,b\n"1\r\n5",2',
    [
      ['a', 'b'],
      ['1\r\n5', '2'],
    ],
  ],
  ['doubled quotes', 'a\n"Ana ""Cica"" Anić"', [['a'], ['Ana "Cica" Anić']]],
  ['quotes inside a cell without quotes', 'a\nAna "Cica" Anić', [['a'], ['Ana "Cica" Anić']]],
  [
    'an empty quoted cell',
    'a,b\n"",2',
    [
      ['a', 'b'],
      ['', '2'],
    ],
  ],
  [
    'empty cells',
    'a,b,c\n,,3',
    [
      ['a', 'b', 'c'],
      ['', '', '3'],
    ],
  ],
  [
    'a delimiter at the end',
    'a,b\n1,',
    [
      ['a', 'b'],
      ['1', ''],
    ],
  ],
  [
    'empty lines, and lines of empty cells',
    'a;b\n\n1;2\r\n\r\n;\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'spaces around cells',
    ' a ; b\n 1 ;" 2 "',
    [
      ['a', 'b'],
      ['1', ' 2 '],
    ],
  ],
  ['a formula', 'a\n=1+1', [['a'], ['=1+1']]],
  ['more records than wanted', 'a\n1\n2\n3', [['a'], ['1'], ['2']]],
  ['nothing', '', []],
  ['only a byte order mark', '\ufeff', []],
])('CSV with %s', (_what, text, records) => {
  expect(parseCsv(text, 3)).toEqual(records);
});

test.each([
  ['a quote that is not closed', 'a\n"1'],
  ['text behind a closing quote', 'a\n"1"2'],
  ['a carriage return behind a closing quote', 'a\n"1"\r2'],
])('%s is refused', (_what, text) => {
  expect(() => parseCsv(text, 9)).toThrow(BrokenCsv);
});
