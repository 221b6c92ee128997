import type { OpsOrder } from '#contracts/orders';

const at = '2026-11-18T12:00:00.000Z';
const labels = [12, 13].map((number) => ({
  seat_id: `0190a000-0000-7000-8000-0000000000${number}`,
  ...{ sector: 'East', row: '3', number },
}));

/** A paid order with two valid tickets of 12 and 13 euros. */
export const orderOfTwo: OpsOrder = {
  id: '0190a000-0000-7000-8000-0000000000d1',
  number: 'ORD-2026-000001',
  match_id: '0190a000-0000-7000-8000-000000000001',
  reservation_id: '0190a000-0000-7000-8000-0000000000d3',
  user_id: '0190a000-0000-7000-8000-0000000000d4',
  email: 'ana@example.hr',
  status: 'completed',
  total_cents: 2500,
  currency: 'EUR',
  seats: labels.map((label) => ({ ...label, price_cents: label.number * 100 })),
  tickets: labels.map((seat, index) => ({
    id: `0190a000-0000-7000-8000-0000000000e${index}`,
    status: 'valid',
    seat,
    holder_name: ['Ana Anić', 'Bo Bić'][index] ?? '',
  })),
  timeline: [{ at, event: 'created' }],
};
