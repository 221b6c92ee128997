import { inflateSync } from 'node:zlib';
import { encode } from 'uqr';
import { encoded, widthOf } from './helvetica.ts';
import { ticketPdf, type PrintedTicket } from './ticket-pdf.ts';

const ticket = {
  id: '0190a000-0000-7000-8000-00000000000a',
  matchName: 'Hrvatska – Italija',
  kickoffAt: '2026-12-12T19:45:00Z',
  venue: 'Stadion Maksimir',
  gate: 'G4',
  sector: 'Zapad A',
  row: '12',
  seat: '15',
  holderName: 'Đurđica Šćepanović Žužul-Čačić',
  code: `TRB1.${'aB3-_'.repeat(11)}.${'Zz09x'.repeat(17)}Q`,
} satisfies PrintedTicket;

/** What is drawn on the page of a file. */
function drawing(pdf: Buffer): string {
  const text = pdf.toString('latin1');
  const [, length = '0'] = /\/Length (\d+) \/Filter/.exec(text) ?? [];
  const start = text.indexOf('stream\n') + 'stream\n'.length;
  return inflateSync(pdf.subarray(start, start + Number(length))).toString('latin1');
}

const hex = (text: string): string => Buffer.from(encoded(text)).toString('hex');

test('the file is where its table says it is', () => {
  const pdf = ticketPdf(ticket);
  const text = pdf.toString('latin1');
  expect(text.startsWith('%PDF-1.4')).toBe(true);
  const [, xref = ''] = /startxref\n(\d+)\n%%EOF\n$/.exec(text) ?? [];
  const offsets = [...text.slice(Number(xref)).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, offset]) => Number(offset));
  expect(offsets.map((offset) => text.slice(offset, offset + 7))).toEqual(offsets.map((_, index) => `${index + 1} 0 obj`));
  expect(offsets).toHaveLength(7);
  expect(pdf.length).toBeLessThan(20_000);
});

test('it says match, kick-off, place and holder, with the letters of Croatian', () => {
  const drawn = drawing(ticketPdf(ticket));
  const kickoff = 'subota, 12. prosinca 2026. u 20:45';
  for (const said of [ticket.matchName, kickoff, ticket.venue, 'G4', 'Zapad A', '12', '15', ticket.holderName, ticket.id])
    expect(drawn).toContain(`<${hex(said)}>`);
});

test('a place on the terrace has neither row nor seat', () => {
  const drawn = drawing(ticketPdf({ ...ticket, gate: null, row: null, seat: null }));
  expect(drawn).toContain(hex('stajanje / standing'));
  expect(drawn).not.toContain(hex('Red / Row'));
  expect(drawn).not.toContain(hex('Ulaz / Gate'));
});

test('without date and place, as its mail, it says all the rest', () => {
  const drawn = drawing(ticketPdf({ ...ticket, kickoffAt: undefined, venue: undefined }));
  for (const said of [ticket.matchName, 'G4', 'Zapad A', '12', '15', ticket.holderName, ticket.id])
    expect(drawn).toContain(`<${hex(said)}>`);
  expect(drawn).not.toContain(hex(ticket.venue));
  expect(drawn).not.toContain(hex('undefined'));
});

test('every dark module of the code is drawn, and nothing else', () => {
  const { data, size } = encode(ticket.code, { ecc: 'M', border: 4 });
  const [code = ''] = drawing(ticketPdf(ticket))
    .split('\n')
    .filter((line) => line.split(' re').length > 100);
  const module = 168 / size;
  const rectangles = [...code.matchAll(/([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+) re/g)].map(([, ...numbers]) => numbers.map(Number));
  const [left, top] = [(298 - 168) / 2, 420 - 172];
  const dark = rectangles.flatMap(([x = 0, y = 0, width = 0, height = 0]) => {
    const [column, row] = [Math.round((x - left) / module), Math.round((top - y - height) / module)];
    return Array.from({ length: Math.round(width / module) }, (_, index) => `${column + index},${row}`);
  });
  const expected = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x},${y}`] : [])));
  expect(dark.sort()).toEqual(expected.sort());
});

test('a long name is made smaller until it fits', () => {
  const name = 'Wilhelmina '.repeat(9).trim();
  const drawn = drawing(ticketPdf({ ...ticket, holderName: name }));
  const [, size = '0'] = new RegExp(`/F2 ([\\d.]+) Tf [\\d. ]+Td <${hex(name)}>`).exec(drawn) ?? [];
  expect(widthOf(name, Number(size), 'bold')).toBeLessThanOrEqual(298 - 2 * 22 + 0.1);
});

test.each([
  ['čćđšž ČĆĐŠŽ', 'every letter of its own'],
  ['Ñandú Müller', 'Latin-1 as it is'],
])('%s: %s', (text) => {
  expect(encoded(text)).not.toContain('?'.charCodeAt(0));
  expect(new Set(encoded(text)).size).toBe(new Set(text).size);
});

test('what the font lacks loses its marks, and without Latin letters it is a question mark', () => {
  expect(encoded('ǎ')).toEqual(encoded('a'));
  expect(encoded('Ж')).toEqual(encoded('?'));
});

test('text of people cannot write drawing commands', () => {
  expect(drawing(ticketPdf({ ...ticket, holderName: ') Tj ET Q (x\\' }))).not.toContain(') Tj ET Q');
});
