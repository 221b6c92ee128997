import { randomUUID } from 'node:crypto';
import type { Reservation } from '../application/ports.ts';
import type { Order } from '../application/sale-ports.ts';

let lastNumber = 0;

/** An order of this hold that is not stored yet, as a checkout makes it. */
export function newOrder({ id, matchId, userId, sessionToken, totalCents, currency, seats }: Reservation): Order {
  lastNumber += 1;
  return {
    ...{
      id: randomUUID(),
      number: `ORD-2026-${String(lastNumber).padStart(6, '0')}`,
      matchId,
      reservationId: id,
      userId,
      sessionToken,
    },
    ...{ status: 'awaiting_payment', totalCents, currency, email: 'ana@example.hr', placedWithKey: 'key' },
    holders: seats.map(({ seatId }) => ({ seatId, name: 'Ana' })),
    payment: { provider: 'none', intentId: null, clientSecret: null, confirmUrl: null },
    origin: { requestId: `checkout-${lastNumber}` },
  };
}
