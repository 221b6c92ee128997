import { isStillTheFans, endsWithItsTime, Memory, rememberedCheckout } from './purchase-memory.ts';
import { openBrowser } from './testing/browser-storage.ts';

let browser: { newTab(): void };
beforeEach(() => void (browser = openBrowser()));

/** The page after a reload knows nothing but what the browser kept. */
const reload = (fanId = 'ana') => new Memory(fanId);
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
] as const)('a reservation that is %s until %s is still the fan’s: %s', (status, expires_at, isTheirs) => {
  expect(isStillTheFans({ status, expires_at }, now)).toBe(isTheirs);
});

test('only a hold ends with its countdown; an ordered one waits for its payment', () => {
  expect([endsWithItsTime({ status: 'held' }), endsWithItsTime({ status: 'ordered' })]).toEqual([true, false]);
});

test('hold, order and receipt are there after a reload and in another tab, each change beside the others', () => {
  reload().change('m1', { receipt: 'r' });
  reload().change('m1', { reservationId: 'hold' });
  reload().change('m1', { orderId: 'order', payment: { provider: 'sandbox', confirmUrl: '/pay' } });
  browser.newTab();
  expect(reload().read('m1')).toEqual({
    receipt: 'r',
    reservationId: 'hold',
    orderId: 'order',
    payment: { provider: 'sandbox', confirmUrl: '/pay' },
  });
});

test('what is remembered for one fan and one match changes nothing for others', () => {
  reload('ana').change('m1', { reservationId: 'hold' });
  expect([reload('ben').read('m1'), reload('ana').read('m2')]).toEqual([{}, {}]);
});

test('a finished purchase is forgotten, the proof of the place in the line is kept', () => {
  const memory = reload();
  memory.change('m1', { receipt: 'r', reservationId: 'hold', orderId: 'order', payment: { provider: 'sandbox' } });
  memory.writeHolders('m1', { holders: [{ seat_id: 's', name: 'Ana' }], email: 'ana@example.com' });
  memory.forgetPurchase('m1');
  expect([reload().read('m1'), reload().readHolders('m1')]).toEqual([{ receipt: 'r' }, undefined]);
});

test('the turn and the names last as long as the tab', () => {
  const turn = { sessionToken: 'st_1', expiresAt: soon };
  const wish = { holders: [{ seat_id: 's', name: 'Ana' }], email: 'ana@example.com' };
  reload().writeTurn('m1', turn);
  reload().writeHolders('m1', wish);
  expect([reload().readTurn('m1'), reload().readHolders('m1')]).toEqual([turn, wish]);
  browser.newTab();
  expect([reload().readTurn('m1'), reload().readHolders('m1')]).toEqual([undefined, undefined]);
});

test('a turn that is over is forgotten', () => {
  reload().writeTurn('m1', { sessionToken: 'st_1', expiresAt: soon });
  reload().writeTurn('m1', undefined);
  expect(reload().readTurn('m1')).toBeUndefined();
});

test('what another version wrote and cannot be read counts as nothing', () => {
  localStorage.setItem('tribina.purchase.ana.m1', '{broken');
  expect(reload().read('m1')).toEqual({});
});

test('an order of 0 cents has no payment to remember', () => {
  const payment = { provider: 'sandbox', intent_id: 'pi', client_secret: 's', confirm_url: '/pay' };
  expect([rememberedCheckout({ order_id: 'o', payment }), rememberedCheckout({ order_id: 'o', payment: null })]).toEqual([
    { orderId: 'o', payment: { provider: 'sandbox', confirmUrl: '/pay' } },
    { orderId: 'o', payment: undefined },
  ]);
});
