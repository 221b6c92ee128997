import { parseTicketCode, ticketCodeText, withSignature } from './ticket-code.ts';

const claims = {
  ticketId: '01994f6e-0000-7abc-8def-0123456789ab',
  matchId: '01994f6e-1111-7abc-8def-ba9876543210',
  serial: 4_000_000_001,
};
const keyId = Uint8Array.of(1, 2, 3, 255);
const signature = new Uint8Array(64).fill(7);
const text = ticketCodeText(claims, keyId);
const code = withSignature(text, signature);

test('parseTicketCode returns the claims that ticketCodeText wrote', () => {
  expect(parseTicketCode(code)).toEqual({ claims, keyId, signedText: text, signature });
});

test('a ticket code has 147 characters, short enough for a QR code on a phone', () => {
  expect(code).toMatch(/^TRB1\.[\w-]{55}\.[\w-]{86}$/);
});

test.each([
  ['an empty text', ''],
  ['another kind of code', code.replace('TRB1', 'TRB2')],
  ['a code without a signature', text],
  ['a code with a short signature', `${text}.AAAA`],
  ['a code with a fourth part', `${code}.AAAA`],
  ['a code with truncated claims', code.replace(text, text.slice(0, -4))],
  ['a code with a character that is not base64url', code.replace('A', '+')],
  ['a code with a later version of the claims', code.replace('TRB1.AQ', 'TRB1.Ag')],
  [
    'a code with another base64url spelling of the same claims',
    code.replace(text, text.slice(0, -1) + String.fromCharCode(text.charCodeAt(54 + 5) + 1)),
  ],
  ['a code with a leading blank', ` ${code}`],
])('parseTicketCode refuses %s', (_, malformed) => {
  expect(malformed).not.toBe(code);
  expect(parseTicketCode(malformed)).toBeUndefined();
});

test('ticketCodeText throws for a ticket id that is not a UUID', () => {
  expect(() => ticketCodeText({ ...claims, ticketId: 'ticket' }, keyId)).toThrow(/UUID/);
});
