import type { OrderStatus } from './order.ts';
import { isRefundedWith, refundKey, ticketsToRefund } from './refund.ts';

const [valid, used, transferred, refunded] = (['valid', 'used', 'transferred', 'refunded'] as const).map((status) => ({
  id: status,
  status,
})) as [Ticket, Ticket, Ticket, Ticket];
type Ticket = { id: string; status: 'valid' | 'used' | 'transferred' | 'refunded' };

const completed = { status: 'completed' } as const;
const idsOf = (tickets: readonly Ticket[]): string[] => tickets.map(({ id }) => id);
/** The ids of the tickets to refund, or the error code and the ids of the tickets that caused it. */
function refundableIds(
  ticketIds: string[] | undefined,
  tickets = [valid, used, transferred, refunded],
  includeUsed = false,
): unknown {
  try {
    return idsOf(ticketsToRefund(completed, tickets, { ...(ticketIds ? { ticketIds } : {}), includeUsed }));
  } catch (error) {
    const { code, data } = error as { code: string; data: { tickets?: Ticket[]; ticket_ids?: string[] } };
    return [code, data.ticket_ids ?? data.tickets?.map(({ id }) => id)];
  }
}

test.each([
  ['no ticket is named: all valid ones', undefined, ['valid']],
  ['a valid ticket is named: that one', ['valid'], ['valid']],
  ['a refunded ticket is named: none', ['refunded'], []],
  ['a refunded and a valid ticket are named: the valid one', ['refunded', 'valid'], ['valid']],
  ['a used ticket is named: refused', ['valid', 'used'], ['INVALID_STATE', ['used']]],
  ['a transferred ticket is named: refused', ['transferred'], ['INVALID_STATE', ['transferred']]],
  ['a ticket of another order is named: refused', ['valid', 'foreign'], ['NOT_FOUND', ['foreign']]],
])('ticketsToRefund: %s', (_, ticketIds, expected) => expect(refundableIds(ticketIds)).toEqual(expected));

test('ticketsToRefund: an order whose remaining tickets are all used is refused; for an order without remaining tickets the list is empty', () => {
  expect(refundableIds(undefined, [used, refunded])).toEqual(['INVALID_STATE', ['used']]);
  expect(refundableIds(undefined, [transferred, refunded])).toEqual([]);
});

test('ticketsToRefund: used tickets are included for a cancelled match', () => {
  expect(refundableIds(undefined, [valid, used, transferred, refunded], true)).toEqual(['valid', 'used']);
});

test.each<OrderStatus>(['awaiting_payment', 'cancelled', 'expired'])(
  'ticketsToRefund: a refund of an order that is %s is refused',
  (status) => {
    expect(() => ticketsToRefund({ status }, [], { includeUsed: true })).toThrow('nothing to refund');
  },
);

test('isRefundedWith: an order is completely refunded when the last of its valid or used tickets is', () => {
  expect(isRefundedWith([valid, transferred, refunded], [valid])).toBe(true);
  expect(isRefundedWith([valid, used], [valid])).toBe(false);
  expect(isRefundedWith([valid, { ...valid, id: 'second' }], [valid])).toBe(false);
});

test('refundKey: the key depends only on the order and the number of tickets refunded before', () => {
  expect(refundKey('o', [valid, used])).toBe(refundKey('o', [valid, transferred, valid]));
  expect(refundKey('o', [valid, refunded])).not.toBe(refundKey('o', [valid, used]));
});
