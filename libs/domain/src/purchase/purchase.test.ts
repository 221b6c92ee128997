import { paymentOutcome, assertHoldersMatch, orderNumber, type OrderStatus } from './order.ts';
import { assertCheckoutAllowed, releaseAction, reservationStatusAt, type ReservationStatus } from './reservation.ts';
import { assertWithinLimit } from './buying-rules.ts';

const errorWith = (code: string) => expect.objectContaining({ code });

test.each<[ReservationStatus, number, ReservationStatus]>([
  ['held', 999, 'held'],
  ['held', 1000, 'expired'],
  ['ordered', 1001, 'expired'],
  ['completed', 5000, 'completed'],
  ['released', 5000, 'released'],
])('a reservation stored as %s that expires at 1000: status at %d is %s', (stored, now, status) => {
  expect(reservationStatusAt(stored, new Date(1000), new Date(now))).toBe(status);
});

test.each<[ReservationStatus, string | undefined, string]>([
  ['held', undefined, 'release'],
  ['ordered', undefined, 'release'],
  ['completed', 'INVALID_STATE', 'INVALID_STATE'],
  ['expired', 'RESERVATION_EXPIRED', 'nothing left to do'],
  ['released', 'INVALID_STATE', 'nothing left to do'],
])(
  'a reservation that is %s: checkout is refused with %s (undefined: allowed); a release has the result "%s"',
  (status, checkout, release) => {
    if (checkout) expect(() => assertCheckoutAllowed(status)).toThrow(errorWith(checkout));
    else expect(() => assertCheckoutAllowed(status)).not.toThrow();
    if (release === 'INVALID_STATE') expect(() => releaseAction(status)).toThrow(errorWith(release));
    else expect(releaseAction(status)).toBe(release);
  },
);

test.each([
  [4, 0, 4, undefined],
  [4, 3, 2, 1],
  [4, 4, 1, 0],
  [4, 6, 1, 0],
])(
  'ticket limit %d, %d seats taken, %d wanted: refused, and %s more are possible (undefined: allowed)',
  (limit, taken, wanted, rest) => {
    const check = () => assertWithinLimit({ limit, taken, wanted });
    if (rest === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'TICKET_LIMIT_REACHED', data: { limit, rest } }));
  },
);

test.each([
  [['a', 'b'], ['b', 'a'], true],
  [['a', 'b'], ['a'], false],
  [['a'], ['a', 'a'], false],
  [['a'], ['a', 'b'], false],
  [['a', 'b'], ['a', 'c'], false],
])('assertHoldersMatch: seats %j with holder names for %j: valid = %s', (seats, holders, isValid) => {
  if (isValid) expect(() => assertHoldersMatch(seats, holders)).not.toThrow();
  else expect(() => assertHoldersMatch(seats, holders)).toThrow(errorWith('VALIDATION_FAILED'));
});

test('orderNumber: the sequence number has six digits', () => {
  expect(orderNumber(2026, 1234)).toBe('ORD-2026-001234');
});

test.each<[OrderStatus, boolean, boolean, string]>([
  ['awaiting_payment', true, true, 'complete'],
  ['awaiting_payment', true, false, 'refund'],
  ['awaiting_payment', false, true, 'refund'],
  ['expired', true, true, 'complete'],
  ['expired', true, false, 'refund'],
  ['cancelled', true, false, 'refund'],
  ['completed', true, true, 'nothing'],
  ['refunded', true, false, 'nothing'],
])('paymentOutcome: order %s, paid exactly = %s, has its seats = %s: outcome "%s"', (status, paidExactly, hasSeats, outcome) => {
  expect(paymentOutcome({ status, paidExactly, hasSeats })).toBe(outcome);
});
