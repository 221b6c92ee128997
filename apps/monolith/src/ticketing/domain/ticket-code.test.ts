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

test('what is written into a code is read out of it', () => {
  expect(parseTicketCode(code)).toEqual({ claims, keyId, signedText: text, signature });
});

test('a code is short enough for a QR code that a phone shows and a gate reads', () => {
  expect(code).toMatch(/^TRB1\.[\w-]{55}\.[\w-]{86}$/);
});

test.each([
  ['nothing', ''],
  ['another kind of code', code.replace('TRB1', 'TRB2')],
  ['a missing signature', text],
  ['a short signature', `${text}.AAAA`],
  ['a part too many', `${code}.AAAA`],
  ['claims cut short', code.replace(text, text.slice(0, -4))],
  ['a character that is not base64url', code.replace('A', '+')],
  ['a later version of the claims', code.replace('TRB1.AQ', 'TRB1.Ag')],
  [
    'a second spelling of the same claims',
    code.replace(text, text.slice(0, -1) + String.fromCharCode(text.charCodeAt(54 + 5) + 1)),
  ],
  ['surrounding blanks', ` ${code}`],
])('%s is no ticket code', (_, spoilt) => {
  expect(spoilt).not.toBe(code);
  expect(parseTicketCode(spoilt)).toBeUndefined();
});

test('an id that is not a UUID is a mistake of ours and is not signed', () => {
  expect(() => ticketCodeText({ ...claims, ticketId: 'ticket' }, keyId)).toThrow(/UUID/);
});
