import { assertHoldsAllowed, saleStatuses, statusAt, type SaleStatus } from './sale.ts';
import {
  saleStatusAfterAction,
  saleStatusAfterSeats,
  assertSaleStatusAllowed,
  saleActions,
  type SaleAction,
} from './sale-changes.ts';

/** For each action of an operator: status of the sale before → status after. Any other combination is refused. */
const legal: Record<SaleAction, Partial<Record<SaleStatus, SaleStatus>>> = {
  open: { scheduled: 'open', closed: 'open', open: 'open' },
  pause: { open: 'paused', paused: 'paused' },
  resume: { paused: 'open', open: 'open' },
  close: { scheduled: 'closed', open: 'closed', paused: 'closed', sold_out: 'closed', closed: 'closed' },
};

test.each(saleActions.flatMap((action) => saleStatuses.map((status) => ({ action, status }))))(
  'sale: the action $action in the status $status leads to the allowed next status, or is refused if there is none',
  ({ action, status }) => {
    const to = legal[action][status];
    if (to) expect(saleStatusAfterAction(status, action)).toBe(to);
    else expect(() => saleStatusAfterAction(status, action)).toThrow(expect.objectContaining({ code: 'INVALID_STATE' }));
  },
);

test('sale: the sale of a cancelled match may only be closed', () => {
  const cancelledAt = new Date('2026-11-18T10:00:00Z');
  for (const status of saleStatuses) {
    expect(() => assertSaleStatusAllowed(status, { cancelledAt: null })).not.toThrow();
    if (status === 'closed') expect(() => assertSaleStatusAllowed(status, { cancelledAt })).not.toThrow();
    else
      expect(() => assertSaleStatusAllowed(status, { cancelledAt })).toThrow(expect.objectContaining({ code: 'INVALID_STATE' }));
  }
});

test('sale: a scheduled sale is open from opensAt on, without an operator', () => {
  const opensAt = new Date('2026-11-18T10:00:00Z');
  expect(statusAt('scheduled', opensAt, new Date('2026-11-18T09:59:59.999Z'))).toBe('scheduled');
  expect(statusAt('scheduled', opensAt, opensAt)).toBe('open');
  expect(statusAt('scheduled', null, opensAt)).toBe('scheduled');
  expect(statusAt('paused', opensAt, opensAt)).toBe('paused');
});

test.each<[SaleStatus, boolean, SaleStatus]>([
  ['open', true, 'open'],
  ['open', false, 'sold_out'],
  ['sold_out', false, 'sold_out'],
  ['sold_out', true, 'open'],
  ['scheduled', false, 'scheduled'],
  ['paused', false, 'paused'],
  ['closed', false, 'closed'],
  ['closed', true, 'closed'],
])('sale: status %s when seats are left = %s becomes %s', (status, anythingLeft, to) => {
  expect(saleStatusAfterSeats(status, anythingLeft)).toBe(to);
});

test.each<[SaleStatus, boolean, string | null]>([
  ['scheduled', true, 'SALE_NOT_OPEN'],
  ['open', false, null],
  ['paused', true, null],
  ['paused', false, 'SALE_NOT_OPEN'],
  ['sold_out', true, 'SOLD_OUT'],
  ['closed', true, 'SALE_NOT_OPEN'],
])(
  'sale: a hold in a sale that is %s, queue required = %s: refused with %s (null: allowed)',
  (saleStatus, queueRequired, code) => {
    const hold = () => assertHoldsAllowed({ saleStatus, opensAt: null, queueRequired });
    if (code) expect(hold).toThrow(expect.objectContaining({ code }));
    else expect(hold).not.toThrow();
  },
);
