import { randomBytes, randomUUID } from 'node:crypto';
import { TicketCodes } from './ticket-codes.ts';

const seed = Buffer.alloc(32, 7).toString('base64');
const codes = new TicketCodes(seed);
const ticket = { id: '01994f6e-0000-7abc-8def-0123456789ab', matchId: '01994f6e-1111-7abc-8def-ba9876543210', serial: 1 };
const code = codes.write(ticket);

test('TicketCodes.read returns the ticket id, match id and serial of a code that TicketCodes.write made', () => {
  expect(codes.read(code)).toEqual({ ticketId: ticket.id, matchId: ticket.matchId, serial: 1 });
});

test('the same ticket gets the same code in every process with the same key', () => {
  expect(new TicketCodes(seed).write(ticket)).toBe(code);
});

test('the format of a ticket code does not change, because printed tickets must stay valid after a release', () => {
  expect(code).toBe(
    'TRB1.ATJL4t4BmU9uAAB6vI3vASNFZ4mrAZlPbhEReryN77qYdlQyEAAAAAE.pdtWT1FojnJZk-xAqdNnALD_wkRAhDKynHSjhDZXvkuauGlXs8pnDnS4XjJZ0T_LwTKoMLgqPz9uXwSZ8359Bg',
  );
});

test('a ticket gets another code when its serial grows', () => {
  const next = codes.write({ ...ticket, serial: 2 });
  expect(next).not.toBe(code);
  expect(codes.read(next)?.serial).toBe(2);
});

test('a ticket code signed with another key is rejected, even if it claims our key id', () => {
  const other = new TicketCodes(randomBytes(32).toString('base64'));
  expect(codes.read(other.write(ticket))).toBeUndefined();
  Object.defineProperty(other, 'keyId', { value: codes.keyId });
  expect(codes.read(other.write(ticket))).toBeUndefined();
});

test('a ticket code with one changed character is rejected', () => {
  const replacements = 'Ab9-_.+';
  for (let position = 0; position < code.length; position += 1) {
    for (const replacement of replacements) {
      const altered = code.slice(0, position) + replacement + code.slice(position + 1);
      if (altered !== code) expect(codes.read(altered)).toBeUndefined();
    }
  }
});

test('a ticket code with the signature of another ticket is rejected', () => {
  const [, , signature] = code.split('.');
  const [prefix, claims] = codes.write({ ...ticket, id: randomUUID() }).split('.');
  expect(codes.read([prefix, claims, signature].join('.'))).toBeUndefined();
});
