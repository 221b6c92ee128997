import { scanQr } from '#testing/qr-reader';
import { ticketQrPng } from './ticket-qr-png.ts';

const longCode = `TRB1.${'aB3-_'.repeat(11)}.${'Zz09x'.repeat(17)}Q`;

test.each(['a', 'TRB1.full-code', `TRB1.${'aB3-_'.repeat(14)}`, longCode, 'TRB1.šđ'])(
  'ticketQrPng: the image of the code "%s" is scanned as this code; it is at least 300 pixels wide and has a border of four modules',
  (code) => {
    const { text, widthPixels, borderModules, modulePixels, level } = scanQr(ticketQrPng(code));
    expect(text).toBe(code);
    expect(widthPixels).toBeGreaterThanOrEqual(300);
    expect([8, 16]).toContain(modulePixels);
    expect(borderModules).toBe(4);
    // Level M or a higher one tolerates 15 % damage.
    expect(['M', 'Q', 'H']).toContain(level);
  },
);

test('ticketQrPng: images of a hundred codes are scanned as these codes', () => {
  const codes = Array.from({ length: 100 }, (_, n) => `TRB1.code-${n}.${String(n * 7919).repeat(1 + (n % 20))}`.slice(0, 146));
  expect(codes.map((code) => scanQr(ticketQrPng(code)).text)).toEqual(codes);
});

test('ticketQrPng: the image of a ticket has less than 2 KB', () => {
  expect(ticketQrPng(longCode).length).toBeLessThan(2048);
});
