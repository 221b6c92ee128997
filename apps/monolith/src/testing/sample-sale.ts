import net from 'node:net';
import { randomUUID } from 'node:crypto';
import { ExpireReservations } from '../purchase/hold/application/expire-reservations.ts';
import { OutboxRelays } from '../relay/outbox-relays.ts';
import { grantTurn, openMonolith, ops, putOnSale, seated, type MatchOnSale, type WholeMonolith } from './whole-monolith.ts';

export interface SoldSeats {
  readonly userId: string;
  readonly reservationId: string;
  readonly seatIds: readonly string[];
  readonly orderId: string;
  readonly intentId: string;
}

export type HeldSeats = Pick<SoldSeats, 'userId' | 'reservationId' | 'seatIds'>;

/** A sale in which everything has happened that can happen to a seat, each of it to somebody else. */
export interface SampleSale {
  readonly match: MatchOnSale;
  readonly queueMatch: MatchOnSale;
  readonly held: HeldSeats;
  readonly awaiting: SoldSeats;
  readonly cancelled: SoldSeats;
  readonly completed: SoldSeats;
  readonly inTurn: SoldSeats;
  /** Two tickets, of which one was given to a friend and refunded there. */
  readonly partlyRefunded: SoldSeats;
  /** Paid too late: the money has gone back, or is on its way. */
  readonly refunded: SoldSeats;
  readonly refundOnItsWay: SoldSeats;
}

/** Listens, because the sandbox calls its shop over HTTP. */
export async function openShop(
  settings: { DATABASE_URL: string; REDIS_URL: string } & Record<string, string>,
): Promise<WholeMonolith> {
  const port = await freePort();
  const shop = await openMonolith({ ...settings, PUBLIC_URL: `http://127.0.0.1:${port}` });
  await shop.app.listen(port, '127.0.0.1');
  return shop;
}

export async function makeSampleSale(shop: WholeMonolith): Promise<SampleSale> {
  const terrace = { name: 'Terrace', kind: 'standing', price_cents: 1200, capacity: 30 };
  const match = await putOnSale(shop, { sectors: [seated('East A'), terrace] });
  const queueMatch = await putOnSale(shop, { away: 'Slovenija', queue_required: true });
  const held = await hold(shop, match);
  const awaiting = await checkOut(shop, await hold(shop, match));
  const completed = await buy(shop, await hold(shop, match));
  await buy(shop, await hold(shop, match, { sector: 1 }));
  await release(shop, await hold(shop, match));
  const cancelled = await checkOut(shop, await hold(shop, match));
  await release(shop, cancelled);
  await sweptAway(shop, match);
  await secondOrderOfTurn(shop, queueMatch);
  const partlyRefunded = await buy(shop, await hold(shop, match));
  await refundTransferred(shop, partlyRefunded);
  const refunded = await paidTooLate(shop, match);
  await relay(shop, 'payments');
  const refundOnItsWay = await paidTooLate(shop, match);
  await lapse(shop, await hold(shop, match));
  return {
    match,
    queueMatch,
    held,
    awaiting,
    cancelled,
    completed,
    partlyRefunded,
    inTurn: await buyInTurn(shop, queueMatch),
    refunded,
    refundOnItsWay,
  };
}

/** Two holds in one turn; one is bought, the other goes back with it. */
async function buyInTurn(shop: WholeMonolith, match: MatchOnSale): Promise<SoldSeats> {
  const userId = randomUUID();
  const sessionToken = await grantTurn(shop, match.id, userId);
  await hold(shop, match, { userId, sessionToken });
  return buy(shop, await hold(shop, match, { userId, sessionToken }));
}

/** A turn's first order is paid when its seats are gone, and its second one in time. */
async function secondOrderOfTurn(shop: WholeMonolith, match: MatchOnSale): Promise<void> {
  const userId = randomUUID();
  const rivalId = randomUUID();
  const sessionToken = await grantTurn(shop, match.id, userId);
  const late = await checkOut(shop, await hold(shop, match, { userId, sessionToken }));
  await lapse(shop, late);
  await hold(shop, match, { userId: rivalId, sessionToken: await grantTurn(shop, match.id, rivalId), seatIds: late.seatIds });
  await buy(shop, await hold(shop, match, { userId, sessionToken }));
  await pay(shop, late);
}

/** Lapsed and tidied up: nobody paid one, the other was paid after all while its seats were still free. */
async function sweptAway(shop: WholeMonolith, match: MatchOnSale): Promise<void> {
  await lapse(shop, await checkOut(shop, await hold(shop, match)));
  const late = await checkOut(shop, await hold(shop, match));
  await lapse(shop, late);
  await shop.get(ExpireReservations).execute();
  await pay(shop, late);
}

async function refundTransferred(shop: WholeMonolith, { userId, orderId }: SoldSeats): Promise<void> {
  const [ticket] = (await shop.call('GET', '/api/v1/tickets', { as: userId })).json.items;
  const body = { to_user_id: randomUUID(), holder_name: 'A friend' };
  await shop.call('POST', `/api/v1/tickets/${ticket.id}/transfer`, { as: userId, body });
  const [received] = (await shop.call('GET', '/api/v1/tickets', { as: body.to_user_id })).json.items;
  const refund = { ...ops, body: { ticket_ids: [received.id] } };
  const { status, text } = await shop.call('POST', `/api/v1/ops/orders/${orderId}/refund`, refund);
  if (status !== 200) throw new Error(`not refunded: ${text}`);
}

/** The hold lapsed and somebody else has the seats. */
async function paidTooLate(shop: WholeMonolith, match: MatchOnSale): Promise<SoldSeats> {
  const late = await checkOut(shop, await hold(shop, match));
  await lapse(shop, late);
  await hold(shop, match, { seatIds: late.seatIds });
  await pay(shop, late);
  return late;
}

export async function hold(
  shop: WholeMonolith,
  match: MatchOnSale,
  wish: { userId?: string; sector?: number; sessionToken?: string; seatIds?: readonly string[] } = {},
): Promise<HeldSeats> {
  const userId = wish.userId ?? randomUUID();
  const body = wish.seatIds ? { seat_ids: wish.seatIds } : { sector_id: match.sectors[wish.sector ?? 0]?.id, quantity: 2 };
  const headers: Record<string, string> = wish.sessionToken ? { 'x-purchase-session': wish.sessionToken } : {};
  const { status, text, json } = await shop.call('POST', `/api/v1/matches/${match.id}/reservations`, {
    as: userId,
    body,
    headers,
  });
  if (status !== 201) throw new Error(`no hold: ${text}`);
  return { userId, reservationId: json.id, seatIds: json.seats.map(({ seat_id }: { seat_id: string }) => seat_id) };
}

async function checkOut(shop: WholeMonolith, held: HeldSeats): Promise<SoldSeats> {
  const body = {
    holders: held.seatIds.map((seat_id, index) => ({ seat_id, name: `Fan ${index + 1}` })),
    email: 'ana@example.hr',
  };
  const { status, text, json } = await shop.call('POST', `/api/v1/reservations/${held.reservationId}/checkout`, {
    as: held.userId,
    body,
  });
  if (status !== 201) throw new Error(`no order: ${text}`);
  return { ...held, orderId: json.order_id, intentId: json.payment.intent_id };
}

async function pay(shop: WholeMonolith, order: SoldSeats): Promise<void> {
  const url = `/api/v1/sandbox/payments/${order.intentId}/confirm`;
  const { status, text } = await shop.call('POST', url, { key: null, body: { outcome: 'succeeded' } });
  if (status !== 202) throw new Error(`not paid: ${text}`);
  await relay(shop, 'sandbox-webhook');
}

export async function buy(shop: WholeMonolith, held: HeldSeats): Promise<SoldSeats> {
  const order = await checkOut(shop, held);
  await pay(shop, order);
  return order;
}

export async function release(shop: WholeMonolith, { userId, reservationId }: HeldSeats): Promise<void> {
  const { status, text } = await shop.call('DELETE', `/api/v1/reservations/${reservationId}`, { as: userId });
  if (status !== 204) throw new Error(`not released: ${text}`);
}

/** As if its time had passed a minute ago. */
async function lapse(shop: WholeMonolith, { reservationId }: HeldSeats): Promise<void> {
  for (const [table, key] of [
    ['reservations', 'id'],
    ['seats', 'reservation_id'],
  ] as const) {
    await shop.dataSource.query(`update ${table} set expires_at = now() - interval '1 minute' where ${key} = $1`, [
      reservationId,
    ]);
  }
}

async function relay(shop: WholeMonolith, destination: string): Promise<void> {
  const relays = shop.get(OutboxRelays).relays;
  await relays.find(({ destination: { name } }) => name === destination)?.runOnce();
}

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
