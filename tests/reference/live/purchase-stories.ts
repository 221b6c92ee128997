import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { newKey } from '../../bad-input/system.ts';
import { HOUR_MS, later, ops, shortly, standing, type Fans, type SoldMatch } from './fans.ts';

/** Holds, and every way in which one is refused. */
export async function holds(fans: Fans): Promise<void> {
  const match = await fans.match();
  const ana = randomUUID();
  const key = newKey();
  const held = await fans.holdIn(match, 0, 2, ana, { key });
  await fans.holdIn(match, 0, 2, ana, { key });
  await fans.holdIn(match, 0, 1, ana, { key });
  await keyInUse(fans);
  await fans.hold(match.id, { seat_ids: held.seats.map(({ seat_id }: { seat_id: string }) => seat_id) });
  await fans.hold(match.id, { seat_ids: [randomUUID()] });
  await fans.holdIn(match, 0, 3, ana);
  for (const quantity of [3, 2, 1]) await fans.holdIn(match, 1, quantity);
  await busySeat(fans, match);
  await fans.holdIn(await fans.match({ opens_at: later(HOUR_MS) }, false), 0, 1);
  await fans.sale(match.id, 'pause');
  await fans.holdIn(match, 0, 1);
  await fans.sale(match.id, 'open');
  await fans.sale(match.id, 'resume');
  const small = await fans.match({ sectors: [standing('Only', 1000, 1), standing('Other', 1000, 5)] });
  await fans.order(small, randomUUID());
  await fans.holdIn(small, 0, 1);
  await turns(fans);
  await listedFan(fans, match);
}

/** As if another request with this key were at work this moment. */
async function keyInUse(fans: Fans): Promise<void> {
  const key = newKey();
  const redis = new Redis(fans.system.redisUrl);
  await redis.set(`idempotency:lock:${key}`, 'somebody', 'EX', 30);
  await redis.quit();
  await fans.ask('PUT', '/me', { as: randomUUID(), body: { email: null, name: null, locale: 'hr' }, key });
}

async function busySeat(fans: Fans, { id, sectors }: SoldMatch): Promise<void> {
  const [seat] = await fans.rows<{ id: string }>(
    `select id from seats where sector_id = $1 and status = 'available' order by rank limit 1`,
    [sectors[0]],
  );
  const holder = fans.system.dataSource.createQueryRunner();
  await holder.startTransaction();
  await holder.query('select 1 from seats where id = $1 for update', [seat?.id]);
  await fans.hold(id, { seat_ids: [seat?.id] });
  await holder.rollbackTransaction();
  await holder.release();
}

/** Without a turn, and with one that is over. */
async function turns(fans: Fans): Promise<void> {
  const queued = await fans.match({ queue_required: true, max_open_windows: 0 });
  const [as, token] = [randomUUID(), `st_${randomUUID()}`];
  await fans.holdIn(queued, 0, 1, as);
  await fans.rows(
    `insert into purchase_windows (session_token, match_id, user_id, expires_at) values ($1, $2, $3, now() - interval '1 minute')`,
    [token, queued.id, as],
  );
  await fans.holdIn(queued, 0, 1, as, { headers: { 'x-purchase-session': token } });
}

async function listedFan(fans: Fans, match: SoldMatch): Promise<void> {
  const [listed, ana] = [randomUUID(), randomUUID()];
  const held = await fans.holdIn(match, 0, 1, listed);
  const { tickets } = await fans.order(await fans.match(), ana);
  for (const reason of ['resold tickets', 'again'])
    await fans.ask('POST', '/ops/blacklist', { ...ops, body: { user_id: listed, reason } });
  await fans.checkOut(held as never, listed);
  await fans.transfer(tickets[0], ana, listed);
  await fans.ask('GET', `/ops/blacklist/${listed}`, ops);
  await fans.ask('GET', '/ops/blacklist', ops);
  // Each process hears of a listing within a second, on a busy machine later.
  for (let round = 0; (await fans.holdIn(match, 0, 1, listed)).code !== 'BLACKLISTED' && round < 50; round += 1) await shortly();
  const { id } = await fans.match({ queue_required: true });
  const join = () => fans.listener.ask('queue', 'POST', `/queue/${id}/join`, { as: listed, key: null });
  for (let round = 0; (await join()).code !== 'BLACKLISTED' && round < 150; round += 1) await shortly();
  await fans.ask('DELETE', `/ops/blacklist/${listed}`, ops);
}

/** Orders, tickets, transfers and refunds. */
export async function orders(fans: Fans): Promise<void> {
  const match = await fans.match();
  const [ana, barbara, full] = [randomUUID(), randomUUID(), randomUUID()];
  const { held, orderId, tickets } = await fans.order(match, ana, 3);
  await fans.checkOut(held, ana);
  await fans.ask('DELETE', `/reservations/${held.id}`, { as: ana });
  const free = await fans.order(match, barbara, 1, 2);
  await fans.checkOut(free.held, barbara);
  await unpaidOrder(fans, match, barbara);
  for (const path of ['orders', 'orders?limit=1', 'tickets', 'me', `reservations/${held.id}`])
    await fans.ask('GET', `/${path}`, { as: ana });
  const [first, second, third] = tickets;
  for (const part of ['', '/qr.svg', '/ticket.pdf']) await fans.ask('GET', `/tickets/${first}${part}`, { as: ana });
  await fans.transfer(first, ana, ana);
  await fans.order(match, full, 4);
  await fans.transfer(first, ana, full);
  await fans.transfer(first, ana, barbara);
  await fans.transfer(first, ana, barbara);
  const refund = (ticket_ids: unknown[]) => fans.ask('POST', `/ops/orders/${orderId}/refund`, { ...ops, body: { ticket_ids } });
  for (const ticketId of [randomUUID(), second, second]) await refund([ticketId]);
  await fans.rows(`update tickets set status = 'used' where id = $1`, [third]);
  await refund([third]);
  for (const part of ['', '/qr.svg', '/ticket.pdf']) await fans.ask('GET', `/tickets/${second}${part}`, { as: ana });
  for (const query of ['', '?status=completed', '?q=ana@example.hr', '?limit=1'])
    await fans.ask('GET', `/ops/orders${query}`, ops);
  await fans.ask('GET', `/orders/${orderId}`, { as: ana });
}

/** An order that is given up, and a hold that is over before it is checked out. */
async function unpaidOrder(fans: Fans, match: SoldMatch, as: string): Promise<void> {
  const waiting = await fans.holdIn(match, 0, 1, as);
  const { order_id: orderId, payment } = await fans.checkOut(waiting as never, as);
  await fans.checkOut(waiting as never, as);
  await fans.ask('POST', `/ops/orders/${orderId}/refund`, { ...ops, body: {} });
  await fans.ask('DELETE', `/reservations/${waiting.id}`, { as });
  await fans.ask('GET', `/orders/${orderId}`, { as });
  // The cancellation reaches the sandbox through the outbox.
  const pay = () =>
    fans.ask('POST', `/sandbox/payments/${payment.intent_id}/confirm`, { body: { outcome: 'abandoned' }, key: null });
  for (let round = 0; (await pay()).code !== 'INVALID_STATE' && round < 50; round += 1) await shortly();
  const late = await fans.holdIn(match, 0, 1, as);
  await fans.rows(`update reservations set expires_at = now() - interval '1 second' where id = $1`, [late.id]);
  await fans.checkOut(late as never, as);
  await fans.ask('GET', `/reservations/${late.id}`, { as });
}
