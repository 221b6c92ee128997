import { inflateSync } from 'node:zlib';
import { encode } from 'uqr';
import { encodeText, textWidth } from './helvetica.ts';
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

/** Returns the drawing commands of the page in a PDF, decompressed. */
function drawingCommands(pdf: Buffer): string {
  const text = pdf.toString('latin1');
  const [, length = '0'] = /\/Length (\d+) \/Filter/.exec(text) ?? [];
  const start = text.indexOf('stream\n') + 'stream\n'.length;
  return inflateSync(pdf.subarray(start, start + Number(length))).toString('latin1');
}

const hex = (text: string): string => Buffer.from(encodeText(text)).toString('hex');

test('ticketPdf: the cross-reference table has the byte offset of every object', () => {
  const pdf = ticketPdf(ticket);
  const text = pdf.toString('latin1');
  expect(text.startsWith('%PDF-1.4')).toBe(true);
  const [, xref = ''] = /startxref\n(\d+)\n%%EOF\n$/.exec(text) ?? [];
  const offsets = [...text.slice(Number(xref)).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, offset]) => Number(offset));
  expect(offsets.map((offset) => text.slice(offset, offset + 7))).toEqual(offsets.map((_, index) => `${index + 1} 0 obj`));
  expect(offsets).toHaveLength(7);
  expect(pdf.length).toBeLessThan(20_000);
});

test('ticketPdf: the page has match, kick-off, venue, seat and holder, with Croatian letters', () => {
  const commands = drawingCommands(ticketPdf(ticket));
  const kickoff = 'subota, 12. prosinca 2026. u 20:45';
  for (const text of [ticket.matchName, kickoff, ticket.venue, 'G4', 'Zapad A', '12', '15', ticket.holderName, ticket.id])
    expect(commands).toContain(`<${hex(text)}>`);
});

test('ticketPdf: the ticket of a standing place has neither row nor seat', () => {
  const commands = drawingCommands(ticketPdf({ ...ticket, gate: null, row: null, seat: null }));
  expect(commands).toContain(hex('stajanje / standing'));
  expect(commands).not.toContain(hex('Red / Row'));
  expect(commands).not.toContain(hex('Ulaz / Gate'));
});

test('ticketPdf: a ticket without kick-off and venue has every other field', () => {
  const commands = drawingCommands(ticketPdf({ ...ticket, kickoffAt: undefined, venue: undefined }));
  for (const text of [ticket.matchName, 'G4', 'Zapad A', '12', '15', ticket.holderName, ticket.id])
    expect(commands).toContain(`<${hex(text)}>`);
  expect(commands).not.toContain(hex(ticket.venue));
  expect(commands).not.toContain(hex('undefined'));
});

test('ticketPdf: exactly the dark modules of the QR code are drawn', () => {
  const { data, size } = encode(ticket.code, { ecc: 'M', border: 4, maskPattern: 2 });
  const commands = drawingCommands(ticketPdf(ticket));
  // `unit 0 0 -unit left top cm`: lengths in squares of the code, from its upper left corner downwards.
  const [, unit, left, top, paths = ''] = /q ([\d.]+) 0 0 -\1 ([\d.]+) ([\d.]+) cm\n([^]*?)f Q/.exec(commands) ?? [];
  const module = 168 / size;
  expect(Number(unit)).toBeCloseTo(module, 3);
  expect([Number(left), Number(top)]).toEqual([
    expect.closeTo((298 - 168) / 2 + 4 * module, 3),
    expect.closeTo(420 - 172 - 4 * module, 3),
  ]);
  const rectangles = paths
    .trimEnd()
    .split('\n')
    .map((line) => /^(\d+) (\d+) (\d+) 1 re$/.exec(line)!.slice(1).map(Number));
  const dark = rectangles.flatMap(([x = 0, y = 0, width = 0]) =>
    Array.from({ length: width }, (_, n) => `${x + 4 + n},${y + 4}`),
  );
  const expected = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x},${y}`] : [])));
  expect(dark.sort()).toEqual(expected.sort());
});

test('ticketPdf: the font size of a long name is reduced until it fits', () => {
  const name = 'Wilhelmina '.repeat(9).trim();
  const commands = drawingCommands(ticketPdf({ ...ticket, holderName: name }));
  const [, size = '0'] = new RegExp(`/F2 ([\\d.]+) Tf [\\d. ]+Td <${hex(name)}>`).exec(commands) ?? [];
  expect(textWidth(name, Number(size), 'bold')).toBeLessThanOrEqual(298 - 2 * 22 + 0.1);
});

test.each([
  ['čćđšž ČĆĐŠŽ', 'Croatian letters'],
  ['Ñandú Müller', 'Latin-1'],
])('encodeText: every letter of "%s" (%s) has a code of its own', (text) => {
  expect(encodeText(text)).not.toContain('?'.charCodeAt(0));
  expect(new Set(encodeText(text)).size).toBe(new Set(text).size);
});

test('encodeText: a letter that the font lacks becomes its base letter, and a letter of another script becomes a question mark', () => {
  expect(encodeText('ǎ')).toEqual(encodeText('a'));
  expect(encodeText('Ж')).toEqual(encodeText('?'));
});

test('ticketPdf: a holder name cannot inject PDF drawing commands', () => {
  expect(drawingCommands(ticketPdf({ ...ticket, holderName: ') Tj ET Q (x\\' }))).not.toContain(') Tj ET Q');
});
