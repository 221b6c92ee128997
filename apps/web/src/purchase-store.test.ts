import { isReservationActive, endsAtExpiry, PurchaseStore, toStoredPurchase } from './purchase-store.ts';
import { installFakeStorage } from './testing/browser-storage.ts';

let browser: { newTab(): void };
beforeEach(() => void (browser = installFakeStorage()));

/** A new purchase store, as after a reload of the page: it has only the data that the browser stored. */
const reload = (fanId = 'ana') => new PurchaseStore(fanId);
const now = Date.parse('2026-11-20T20:00:00Z');
const soon = '2026-11-20T20:00:01Z';
const past = '2026-11-20T20:00:00Z';

test.each([
  ['held', soon, true],
  ['held', past, false],
  ['ordered', soon, true],
  ['ordered', past, true],
  ['completed', soon, false],
  ['expired', soon, false],
  ['released', soon, false],
] as const)('a reservation with status %s and expires_at %s is active: %s', (status, expires_at, isActive) => {
  expect(isReservationActive({ status, expires_at }, now)).toBe(isActive);
});

test('a held reservation ends at expires_at; an ordered reservation does not, because it waits for the payment', () => {
  expect([endsAtExpiry({ status: 'held' }), endsAtExpiry({ status: 'ordered' })]).toEqual([true, false]);
});

test('the stored queue receipt, reservation and order do not overwrite each other and survive a reload and a new tab', () => {
  reload().update('m1', { receipt: 'r' });
  reload().update('m1', { reservationId: 'hold' });
  reload().update('m1', { orderId: 'order', payment: { provider: 'sandbox', confirmUrl: '/pay' } });
  browser.newTab();
  expect(reload().read('m1')).toEqual({
    receipt: 'r',
    reservationId: 'hold',
    orderId: 'order',
    payment: { provider: 'sandbox', confirmUrl: '/pay' },
  });
});

test('the stored purchase of one fan for one match is not visible to another fan or for another match', () => {
  reload('ana').update('m1', { reservationId: 'hold' });
  expect([reload('ben').read('m1'), reload('ana').read('m2')]).toEqual([{}, {}]);
});

test('forgetPurchase removes the reservation, the order and the names of the ticket holders, but keeps the queue receipt', () => {
  const memory = reload();
  memory.update('m1', { receipt: 'r', reservationId: 'hold', orderId: 'order', payment: { provider: 'sandbox' } });
  memory.writeHolders('m1', { holders: [{ seat_id: 's', name: 'Ana' }], email: 'ana@example.com' });
  memory.forgetPurchase('m1');
  expect([reload().read('m1'), reload().readHolders('m1')]).toEqual([{ receipt: 'r' }, undefined]);
});

test('the stored turn and the names of the ticket holders survive a reload but are not visible in a new tab', () => {
  const turn = { sessionToken: 'st_1', expiresAt: soon };
  const checkout = { holders: [{ seat_id: 's', name: 'Ana' }], email: 'ana@example.com' };
  reload().writeTurn('m1', turn);
  reload().writeHolders('m1', checkout);
  expect([reload().readTurn('m1'), reload().readHolders('m1')]).toEqual([turn, checkout]);
  browser.newTab();
  expect([reload().readTurn('m1'), reload().readHolders('m1')]).toEqual([undefined, undefined]);
});

test('writing undefined as the turn removes the stored turn', () => {
  reload().writeTurn('m1', { sessionToken: 'st_1', expiresAt: soon });
  reload().writeTurn('m1', undefined);
  expect(reload().readTurn('m1')).toBeUndefined();
});

test('a stored purchase that is not valid JSON is read as empty', () => {
  localStorage.setItem('tribina.purchase.ana.m1', '{broken');
  expect(reload().read('m1')).toEqual({});
});

test('toStoredPurchase: an order of 0 cents is stored without a payment', () => {
  const payment = { provider: 'sandbox', intent_id: 'pi', client_secret: 's', confirm_url: '/pay' };
  expect([toStoredPurchase({ order_id: 'o', payment }), toStoredPurchase({ order_id: 'o', payment: null })]).toEqual([
    { orderId: 'o', payment: { provider: 'sandbox', confirmUrl: '/pay' } },
    { orderId: 'o', payment: undefined },
  ]);
});
