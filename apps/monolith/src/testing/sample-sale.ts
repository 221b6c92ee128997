import net from 'node:net';
import { randomUUID } from 'node:crypto';
import { ExpireReservations } from '../purchase/hold/application/expire-reservations.ts';
import { BoxOffice } from '../purchase/testing/box-office.ts';
import { QuotaOffice } from '../purchase/testing/quota-office.ts';
import { OutboxRelays } from '../relay/outbox-relays.ts';
import { giveTicket, offerTicket } from './transfer-calls.ts';
import { grantTurn, openMonolith, ops, putOnSale, seated, type MatchOnSale, type WholeMonolith } from './whole-monolith.ts';

/** The seats of a fan, with their reservation, order and payment intent. */
export interface SoldSeats {
  readonly userId: string;
  readonly reservationId: string;
  readonly seatIds: readonly string[];
  readonly orderId: string;
  readonly intentId: string;
}

/** The seats that a fan holds, with their reservation. */
export type HeldSeats = Pick<SoldSeats, 'userId' | 'reservationId' | 'seatIds'>;

/**
 * A sale that contains every state a seat can have. Each field is an example of one state; the examples belong to different fans.
 */
export interface SampleSale {
  readonly match: MatchOnSale;
  readonly queueMatch: MatchOnSale;
  readonly held: HeldSeats;
  readonly awaiting: SoldSeats;
  readonly cancelled: SoldSeats;
  readonly completed: SoldSeats;
  readonly inTurn: SoldSeats;
  /** Two tickets, of which one was transferred to a friend and then refunded. */
  readonly partlyRefunded: SoldSeats;
  /** An order that was paid too late and is refunded. */
  readonly refunded: SoldSeats;
  /** An order that was paid too late; its refund still waits in the outbox. */
  readonly pendingRefund: SoldSeats;
  readonly quota: SampleQuota;
}

/** A quota with places in each state. */
export interface SampleQuota {
  readonly id: string;
  readonly freeSeat: string;
  /** A place of an open invitation. */
  readonly invitedSeat: string;
  /** A place of a pending move, and that move. */
  readonly pendingSeat: string;
  readonly pendingMove: string;
  /** Places of an invitation that was claimed and paid. */
  readonly sold: SoldSeats;
}

/** Opens a monolith that listens on a port, because the sandbox sends its webhooks over HTTP. */
export async function openShop(
  settings: { DATABASE_URL: string; REDIS_URL: string } & Record<string, string>,
): Promise<WholeMonolith> {
  const port = await freePort();
  const shop = await openMonolith({ ...settings, MONOLITH_PORT: String(port) });
  await shop.app.listen(port, '127.0.0.1');
  return shop;
}

/** Makes the sample sale through the API, with two matches that are for sale. */
export async function makeSampleSale(shop: WholeMonolith): Promise<SampleSale> {
  const terrace = { name: 'Terrace', kind: 'standing', price_cents: 1200, capacity: 30 };
  const match = await putOnSale(shop, { sectors: [seated('East A'), terrace] });
  const quota = await sampleQuota(shop, match);
  const queueMatch = await putOnSale(shop, { away: 'Slovenija', queue_required: true });
  const held = await hold(shop, match);
  const awaiting = await checkOut(shop, await hold(shop, match));
  const completed = await buy(shop, await hold(shop, match));
  await offered(shop, await buy(shop, await hold(shop, match, { sector: 1 })));
  await release(shop, await hold(shop, match));
  const cancelled = await checkOut(shop, await hold(shop, match));
  await release(shop, cancelled);
  await expiredOrders(shop, match);
  await secondOrderOfTurn(shop, queueMatch);
  const partlyRefunded = await buy(shop, await hold(shop, match));
  await refundTransferred(shop, partlyRefunded);
  const refunded = await paidTooLate(shop, match);
  await relay(shop, 'payments');
  const pendingRefund = await paidTooLate(shop, match);
  await expire(shop, await hold(shop, match));
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
    pendingRefund,
    quota,
  };
}

/** A quota of seven places: two are sold, one is held, one is invited, two wait for an approval, one is free. */
async function sampleQuota(shop: WholeMonolith, match: MatchOnSale): Promise<SampleQuota> {
  const quotas = new QuotaOffice(new BoxOffice(shop));
  const create = async (kind: string, quantity: number, fields: object): Promise<string> => {
    const body = { name: kind, kind, places: [{ sector_id: match.sectors[0]?.id, quantity }], ...fields };
    const { json, status, text } = await shop.call('POST', `/api/v1/ops/matches/${match.id}/quotas`, { ...ops, body });
    if (status !== 201) throw new Error(`the quota was not created: ${text}`);
    return json.id;
  };
  const return_at = new Date(Date.now() + 86_400_000).toISOString();
  const id = await create('visitors', 7, { never_to: ['club'], return_at });
  const club = await create('club', 1, {});
  const seats = (await quotas.places.free({ matchId: match.id, quotaId: id })).map(({ seatId }) => seatId);
  const claimed = await quotas.claimed(await quotas.invite(match, id, seats.slice(0, 2)));
  const sold = await buy(shop, { ...claimed, reservationId: claimed.id });
  await quotas.claimed(await quotas.invite(match, id, seats.slice(2, 3)));
  await quotas.invite(match, id, seats.slice(3, 4));
  const body = { to: club, places: [{ seat_ids: seats.slice(4, 6) }], reason: 'they asked', override: true };
  const pending = await shop.call('POST', `/api/v1/ops/quotas/${id}/moves`, { ...ops, body });
  if (pending.status !== 202) throw new Error(`the move is not pending: ${pending.text}`);
  const [invitedSeat = '', pendingSeat = '', , freeSeat = ''] = seats.slice(3);
  return { id, freeSeat, invitedSeat, pendingSeat, pendingMove: pending.json.id, sold };
}

/** Makes two holds in one turn and buys one of them, which releases the other. */
async function buyInTurn(shop: WholeMonolith, match: MatchOnSale): Promise<SoldSeats> {
  const userId = randomUUID();
  const sessionToken = await grantTurn(shop, match.id, userId);
  await hold(shop, match, { userId, sessionToken });
  return buy(shop, await hold(shop, match, { userId, sessionToken }));
}

/** Two orders of one turn: the first is paid after another fan took its seats, the second is paid in time. */
async function secondOrderOfTurn(shop: WholeMonolith, match: MatchOnSale): Promise<void> {
  const userId = randomUUID();
  const rivalId = randomUUID();
  const sessionToken = await grantTurn(shop, match.id, userId);
  const late = await checkOut(shop, await hold(shop, match, { userId, sessionToken }));
  await expire(shop, late);
  await hold(shop, match, { userId: rivalId, sessionToken: await grantTurn(shop, match.id, rivalId), seatIds: late.seatIds });
  await buy(shop, await hold(shop, match, { userId, sessionToken }));
  await pay(shop, late);
}

/** Two orders whose holds expired: the first is never paid, the second is paid late while its seats are still free. */
async function expiredOrders(shop: WholeMonolith, match: MatchOnSale): Promise<void> {
  await expire(shop, await checkOut(shop, await hold(shop, match)));
  const late = await checkOut(shop, await hold(shop, match));
  await expire(shop, late);
  await shop.get(ExpireReservations).execute();
  await pay(shop, late);
}

async function refundTransferred(shop: WholeMonolith, { userId, orderId }: SoldSeats): Promise<void> {
  const [ticket] = (await shop.call('GET', '/api/v1/tickets', { as: userId })).json.items;
  const { new_ticket_id } = await giveTicket(shop, { ticketId: ticket.id, from: userId, to: randomUUID() });
  const refund = { ...ops, body: { ticket_ids: [new_ticket_id] } };
  const { status, text } = await shop.call('POST', `/api/v1/ops/orders/${orderId}/refund`, refund);
  if (status !== 200) throw new Error(`the refund failed: ${text}`);
}

/** Offers one of two tickets of a standing sector. */
async function offered(shop: WholeMonolith, { userId }: SoldSeats): Promise<void> {
  const [ticket] = (await shop.call('GET', '/api/v1/tickets', { as: userId })).json.items;
  await offerTicket(shop, { ticketId: ticket.id, from: userId, to: randomUUID() });
}

/** An order that is paid after its hold expired and another fan took the seats. */
async function paidTooLate(shop: WholeMonolith, match: MatchOnSale): Promise<SoldSeats> {
  const late = await checkOut(shop, await hold(shop, match));
  await expire(shop, late);
  await hold(shop, match, { seatIds: late.seatIds });
  await pay(shop, late);
  return late;
}

/** Holds two seats, or the given ones, for a new fan or the given one. */
export async function hold(
  shop: WholeMonolith,
  match: MatchOnSale,
  options: { userId?: string; sector?: number; sessionToken?: string; seatIds?: readonly string[] } = {},
): Promise<HeldSeats> {
  const userId = options.userId ?? randomUUID();
  const body = options.seatIds
    ? { seat_ids: options.seatIds }
    : { sector_id: match.sectors[options.sector ?? 0]?.id, quantity: 2 };
  const headers: Record<string, string> = options.sessionToken ? { 'x-purchase-session': options.sessionToken } : {};
  const { status, text, json } = await shop.call('POST', `/api/v1/matches/${match.id}/reservations`, {
    as: userId,
    body,
    headers,
  });
  if (status !== 201) throw new Error(`the hold failed: ${text}`);
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
  if (status !== 201) throw new Error(`the checkout failed: ${text}`);
  return { ...held, orderId: json.order_id, intentId: json.payment.intent_id };
}

async function pay(shop: WholeMonolith, order: SoldSeats): Promise<void> {
  const url = `/api/v1/sandbox/payments/${order.intentId}/confirm`;
  const { status, text } = await shop.call('POST', url, { key: null, body: { outcome: 'succeeded' } });
  if (status !== 202) throw new Error(`the payment failed: ${text}`);
  await relay(shop, 'sandbox-webhook');
}

/** Checks the hold out and pays the order. */
export async function buy(shop: WholeMonolith, held: HeldSeats): Promise<SoldSeats> {
  const order = await checkOut(shop, held);
  await pay(shop, order);
  return order;
}

/** Releases the hold, so that its seats are for sale again. */
export async function release(shop: WholeMonolith, { userId, reservationId }: HeldSeats): Promise<void> {
  const { status, text } = await shop.call('DELETE', `/api/v1/reservations/${reservationId}`, { as: userId });
  if (status !== 204) throw new Error(`the release failed: ${text}`);
}

/** Lets the hold expire: sets its end to a minute ago. */
async function expire(shop: WholeMonolith, { reservationId }: HeldSeats): Promise<void> {
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
