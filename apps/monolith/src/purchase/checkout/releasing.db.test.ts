import { randomUUID } from 'node:crypto';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type HeldSeats, type OpenBoxOffice } from '../testing/box-office.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 5, 10)] });
});
afterAll(() => opened.close());

const release = ({ id, userId }: Pick<HeldSeats, 'id' | 'userId'>, as = userId) =>
  office.monolith.call('DELETE', `/api/v1/reservations/${id}`, { as });

test('release: the seats of a released hold are for sale at once', async () => {
  const held = await office.held(match, { quantity: 2 });
  expect((await release(held)).status).toBe(204);
  expect(await office.reservation(held)).toBe('released');
  expect((await office.hold(match, { seatIds: held.seatIds })).status).toBe(201);
});

test('release: a repeated release is 204 and does not change a later hold of the same seats by another fan', async () => {
  const held = await office.held(match);
  await release(held);
  const next = await office.held(match, { seatIds: held.seatIds });
  const again = await Promise.all(Array.from({ length: 5 }, () => release(held)));
  expect(again.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
  expect(await office.holderOf(held.seatIds[0] ?? '')).toEqual({ status: 'held', reservation_id: next.id });
});

test('release: during checkout the order is cancelled, and the provider is told to cancel the intent', async () => {
  const ordered = await office.ordered(await office.held(match));
  expect((await release(ordered.held)).status).toBe(204);
  const order = await office.order(ordered);
  expect([order.status, order.timeline.map(({ event }: { event: string }) => event)]).toEqual([
    'cancelled',
    ['created', 'cancelled'],
  ]);
  expect(await office.outbox(ordered.orderId)).toEqual([
    { destination: 'payments', event: 'order.cancelled', body: { kind: 'cancel', intentId: ordered.intentId } },
  ]);
  await release(ordered.held);
  expect(await office.outbox(ordered.orderId)).toHaveLength(1);
});

test('release: releasing an expired hold is 204 and changes nothing', async () => {
  const held = await office.held(match);
  await office.lapse(held);
  const next = await office.held(match, { seatIds: held.seatIds });
  expect((await release(held)).status).toBe(204);
  expect([await office.reservation(held), await office.holderOf(held.seatIds[0] ?? '')]).toEqual([
    'expired',
    { status: 'held', reservation_id: next.id },
  ]);
});

test('release: a paid reservation is refused with 409', async () => {
  const ordered = await office.ordered(await office.held(match));
  await office.settle(office.report(ordered));
  const { status, json } = await release(ordered.held);
  expect([status, json.code, (await office.order(ordered)).status]).toEqual([409, 'INVALID_STATE', 'completed']);
});

describe('a reservation that has ended', () => {
  const read = async ({ id, userId }: HeldSeats, as = userId) =>
    office.monolith.call('GET', `/api/v1/reservations/${id}`, { as });

  test.each<[string, (held: HeldSeats) => Promise<unknown>]>([
    ['released', (held) => release(held)],
    ['expired', (held) => office.lapse(held)],
    ['completed', async (held) => office.settle(office.report(await office.ordered(held)))],
  ])(
    'a reservation that has ended as %s can still be read with its seats and price, by its own fan only',
    async (status, end) => {
      const held = await office.held(match, { quantity: 2 });
      await end(held);
      const { json, headers } = await read(held);
      expect(json).toEqual({
        id: held.id,
        status,
        match_id: match.id,
        seats: held.seats,
        together: true,
        total_cents: 5000,
        currency: 'EUR',
        expires_at: expect.stringMatching(/Z$/),
      });
      expect(headers['cache-control']).toBe('no-store');
      expect([(await read(held, randomUUID())).status, (await read({ ...held, id: randomUUID() })).status]).toEqual([404, 404]);
      if (status === 'released') await office.held(match, { seatIds: held.seatIds });
      expect((await read(held)).json.seats).toEqual(held.seats);
    },
  );

  test('a reservation in checkout is read as ordered until its expiry, then as expired', async () => {
    const { held } = await office.ordered(await office.held(match));
    expect(await office.reservation(held)).toBe('ordered');
    await office.lapse(held);
    expect(await office.reservation(held)).toBe('expired');
  });
});

test('release: after a release during checkout, a repeated checkout is refused, and the order stays cancelled', async () => {
  const ordered = await office.ordered(await office.held(match));
  await release(ordered.held);
  expect((await office.checkOut(ordered.held)).json.code).toBe('INVALID_STATE');
  expect((await office.order(ordered)).status).toBe('cancelled');
});

test("release: another fan's reservation and an unknown one are both 404", async () => {
  const held = await office.held(match);
  expect((await release(held, randomUUID())).status).toBe(404);
  expect((await release({ id: randomUUID(), userId: held.userId })).status).toBe(404);
  expect(await office.reservation(held)).toBe('held');
});
