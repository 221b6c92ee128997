import { randomBytes, randomUUID } from 'node:crypto';
import { Ed25519TicketSigner } from '../outbound/ed25519-ticket-signer.ts';
import { TicketCodes } from './ticket-codes.ts';

const seed = Buffer.alloc(32, 7).toString('base64');
const codes = new TicketCodes(new Ed25519TicketSigner(seed));
const ticket = { id: '01994f6e-0000-7abc-8def-0123456789ab', matchId: '01994f6e-1111-7abc-8def-ba9876543210', serial: 1 };
const code = codes.write(ticket);

test('a code we wrote is believed and says which ticket it is', () => {
  expect(codes.read(code)).toEqual({ ticketId: ticket.id, matchId: ticket.matchId, serial: 1 });
});

test('the same ticket always has the same code, in every process that has the key', () => {
  expect(new TicketCodes(new Ed25519TicketSigner(seed)).write(ticket)).toBe(code);
});

test('the format is fixed: printed tickets outlive releases', () => {
  expect(code).toBe(
    'TRB1.ATJL4t4BmU9uAAB6vI3vASNFZ4mrAZlPbhEReryN77qYdlQyEAAAAAE.pdtWT1FojnJZk-xAqdNnALD_wkRAhDKynHSjhDZXvkuauGlXs8pnDnS4XjJZ0T_LwTKoMLgqPz9uXwSZ8359Bg',
  );
});

test('another generation of a ticket has another code', () => {
  const next = codes.write({ ...ticket, serial: 2 });
  expect(next).not.toBe(code);
  expect(codes.read(next)?.serial).toBe(2);
});

test('a code signed with another key is not believed, whatever key it claims', () => {
  const stranger = new Ed25519TicketSigner(randomBytes(32).toString('base64'));
  expect(codes.read(new TicketCodes(stranger).write(ticket))).toBeUndefined();
  Object.defineProperty(stranger, 'keyId', { value: new Ed25519TicketSigner(seed).keyId });
  expect(codes.read(new TicketCodes(stranger).write(ticket))).toBeUndefined();
});

test('no change of a single character is believed', () => {
  const others = 'Ab9-_.+';
  for (let position = 0; position < code.length; position += 1) {
    for (const other of others) {
      const altered = code.slice(0, position) + other + code.slice(position + 1);
      if (altered !== code) expect(codes.read(altered)).toBeUndefined();
    }
  }
});

test('the signature of one ticket does not fit another', () => {
  const [, , signature] = code.split('.');
  const [prefix, claims] = codes.write({ ...ticket, id: randomUUID() }).split('.');
  expect(codes.read([prefix, claims, signature].join('.'))).toBeUndefined();
});
