import type { OrderStatus } from './order.ts';
import { isRefundedWith, refundKey, ticketsToRefund } from './refund.ts';

const [valid, used, given, dead] = (['valid', 'used', 'transferred', 'refunded'] as const).map((status) => ({
  id: status,
  status,
})) as [Ticket, Ticket, Ticket, Ticket];
type Ticket = { id: string; status: 'valid' | 'used' | 'transferred' | 'refunded' };

const completed = { status: 'completed' } as const;
const idsOf = (tickets: readonly Ticket[]): string[] => tickets.map(({ id }) => id);
/** The ids that die, or the code it is refused with and the tickets that are to blame. */
function asked(ticketIds: string[] | undefined, tickets = [valid, used, given, dead], usedToo = false): unknown {
  try {
    return idsOf(ticketsToRefund(completed, tickets, { ...(ticketIds ? { ticketIds } : {}), usedToo }));
  } catch (error) {
    const { code, data } = error as { code: string; data: { tickets?: Ticket[]; ticket_ids?: string[] } };
    return [code, data.ticket_ids ?? data.tickets?.map(({ id }) => id)];
  }
}

test.each([
  ['all that are left: those that let somebody in and did not yet', undefined, ['valid']],
  ['one that is named', ['valid'], ['valid']],
  ['one that is named again: nothing is left to do', ['refunded'], []],
  ['one again beside another: that one', ['refunded', 'valid'], ['valid']],
  ['one that was used', ['valid', 'used'], ['INVALID_STATE', ['used']]],
  ['one that was given to somebody', ['transferred'], ['INVALID_STATE', ['transferred']]],
  ['one of another order', ['valid', 'foreign'], ['NOT_FOUND', ['foreign']]],
])('%s', (_, ticketIds, expected) => expect(asked(ticketIds)).toEqual(expected));

test('all of an order whose living tickets were all used is refused, of one without any there is nothing to do', () => {
  expect(asked(undefined, [used, dead])).toEqual(['INVALID_STATE', ['used']]);
  expect(asked(undefined, [given, dead])).toEqual([]);
});

test('with its whole match a used ticket is refunded too', () => {
  expect(asked(undefined, [valid, used, given, dead], true)).toEqual(['valid', 'used']);
});

test.each<OrderStatus>(['awaiting_payment', 'cancelled', 'expired'])('an order that is %s gives nothing back', (status) => {
  expect(() => ticketsToRefund({ status }, [], { usedToo: true })).toThrow('nothing to give back');
});

test('an order is refunded with its last living ticket', () => {
  expect(isRefundedWith([valid, given, dead], [valid])).toBe(true);
  expect(isRefundedWith([valid, used], [valid])).toBe(false);
  expect(isRefundedWith([valid, { ...valid, id: 'second' }], [valid])).toBe(false);
});

test('decisions from the same state have the same key, later ones another', () => {
  expect(refundKey('o', [valid, used])).toBe(refundKey('o', [valid, given, valid]));
  expect(refundKey('o', [valid, dead])).not.toBe(refundKey('o', [valid, used]));
});
