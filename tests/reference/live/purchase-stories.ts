import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { newKey } from '../../bad-input/system.ts';
import { HOUR_MS, timeFromNow, ops, pause100Ms, standingSector, type FanActions, type MatchOnSale } from './fans.ts';

/** Calls the hold route so that it answers with a success and with every documented refusal. */
export async function holdStory(fans: FanActions): Promise<void> {
  const match = await fans.createMatch();
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
  await fans.holdIn(await fans.createMatch({ opens_at: timeFromNow(HOUR_MS) }, false), 0, 1);
  await fans.changeSale(match.id, 'pause');
  await fans.holdIn(match, 0, 1);
  await fans.changeSale(match.id, 'open');
  await fans.changeSale(match.id, 'resume');
  const small = await fans.createMatch({ sectors: [standingSector('Only', 1000, 1), standingSector('Other', 1000, 5)] });
  await fans.buy(small, randomUUID());
  await fans.holdIn(small, 0, 1);
  await holdsWithoutTurn(fans);
  await unpaidHolds(fans);
  await listedFan(fans, match);
}

/** Sets the lock of an idempotency key in Redis, as if a request with this key were running, and sends a request with the key. */
async function keyInUse(fans: FanActions): Promise<void> {
  const key = newKey();
  const redis = new Redis(fans.system.redisUrl);
  await redis.set(`idempotency:lock:${key}`, 'somebody', 'EX', 30);
  await redis.quit();
  await fans.request('PUT', '/me', { as: randomUUID(), body: { email: null, name: null, locale: 'hr' }, key });
}

async function busySeat(fans: FanActions, { id, sectors }: MatchOnSale): Promise<void> {
  const [seat, next] = await fans.rows<{ id: string }>(
    `select id from seats where sector_id = $1 and status = 'available' order by rank limit 2`,
    [sectors[0]],
  );
  const holder = fans.system.dataSource.createQueryRunner();
  await holder.startTransaction();
  await holder.query('select 1 from seats where id = $1 for update', [seat?.id]);
  await fans.hold(id, { seat_ids: [seat?.id] });
  await holder.rollbackTransaction();
  await holder.release();
  await fans.hold(id, { seat_ids: [next?.id] });
}

/** Sends hold requests without a session token and with an expired session token. */
async function holdsWithoutTurn(fans: FanActions): Promise<void> {
  const queued = await fans.createMatch({ queue_required: true, max_open_windows: 0 });
  const [as, token] = [randomUUID(), `st_${randomUUID()}`];
  await fans.holdIn(queued, 0, 1, as);
  await fans.rows(
    `insert into purchase_windows (session_token, match_id, user_id, expires_at) values ($1, $2, $3, now() - interval '1 minute')`,
    [token, queued.id, as],
  );
  await fans.holdIn(queued, 0, 1, as, { headers: { 'x-purchase-session': token } });
}

/** Lets three holds of a fan expire, one after the other, then sends a hold request. */
async function unpaidHolds(fans: FanActions): Promise<void> {
  const [match, as] = [await fans.createMatch(), randomUUID()];
  for (const minutesAgo of [31, 21, 11]) {
    const { id } = await fans.holdIn(match, 0, 1, as);
    await fans.rows(
      `update reservations set created_at = now() - make_interval(mins => $2), expires_at = now() - make_interval(mins => $2 - 10) where id = $1`,
      [id, minutesAgo],
    );
  }
  await fans.holdIn(match, 0, 1, as);
}

async function listedFan(fans: FanActions, match: MatchOnSale): Promise<void> {
  const [listed, ana] = [randomUUID(), randomUUID()];
  const held = await fans.holdIn(match, 0, 1, listed);
  const { tickets } = await fans.buy(await fans.createMatch(), ana);
  for (const reason of ['resold tickets', 'again'])
    await fans.request('POST', '/ops/blacklist', { ...ops, body: { user_id: listed, reason } });
  await fans.checkOut(held as never, listed);
  const offer = await fans.offer(tickets[0], ana, { to_user_id: listed });
  await fans.answerOffer(offer, listed, 'accept');
  await fans.request('GET', `/ops/blacklist/${listed}`, ops);
  await fans.request('GET', '/ops/blacklist', ops);
  // Each process learns of a blacklisted fan within a second, later on a busy machine.
  for (let attempt = 0; (await fans.holdIn(match, 0, 1, listed)).code !== 'BLACKLISTED' && attempt < 50; attempt += 1)
    await pause100Ms();
  const { id } = await fans.createMatch({ queue_required: true });
  const join = () => fans.client.request('queue', 'POST', `/queue/${id}/join`, { as: listed, key: null });
  for (let attempt = 0; (await join()).code !== 'BLACKLISTED' && attempt < 150; attempt += 1) await pause100Ms();
  await fans.request('DELETE', `/ops/blacklist/${listed}`, ops);
}

/** Calls the routes of orders, tickets, transfers and refunds. */
export async function orderStory(fans: FanActions): Promise<void> {
  const match = await fans.createMatch();
  const [ana, barbara, fanAtLimit] = [randomUUID(), randomUUID(), randomUUID()];
  const { held, orderId, tickets } = await fans.buy(match, ana, 3);
  await fans.checkOut(held, ana);
  await fans.request('DELETE', `/reservations/${held.id}`, { as: ana });
  const free = await fans.buy(match, barbara, 1, 2);
  await fans.checkOut(free.held, barbara);
  await unpaidOrder(fans, match, barbara);
  await invitationOfClosedSale(fans, barbara);
  for (const path of ['orders', 'orders?limit=1', 'tickets', 'me', 'reservations?limit=1', `reservations/${held.id}`])
    await fans.request('GET', `/${path}`, { as: ana });
  const [first, second, third] = tickets;
  for (const part of ['', '/qr.svg', '/ticket.pdf']) await fans.request('GET', `/tickets/${first}${part}`, { as: ana });
  await fans.buy(match, fanAtLimit, 4);
  await transferStory(fans, { match, first: first!, ana, barbara, fanAtLimit });
  const refund = (ticket_ids: unknown[]) =>
    fans.request('POST', `/ops/orders/${orderId}/refund`, { ...ops, body: { ticket_ids } });
  for (const ticketId of [randomUUID(), second, second]) await refund([ticketId]);
  await fans.rows(`update tickets set status = 'used' where id = $1`, [third]);
  await refund([third]);
  for (const part of ['', '/qr.svg', '/ticket.pdf']) await fans.request('GET', `/tickets/${second}${part}`, { as: ana });
  for (const query of ['', '?status=completed', '?q=ana@example.hr', '?limit=1'])
    await fans.request('GET', `/ops/orders${query}`, ops);
  await fans.request('GET', `/orders/${orderId}`, { as: ana });
}

interface TransferStory {
  readonly match: MatchOnSale;
  readonly first: string;
  readonly ana: string;
  readonly barbara: string;
  readonly fanAtLimit: string;
}

/** Offers the first ticket of Ana until Barbara has it. */
async function transferStory(fans: FanActions, { match, first, ana, barbara, fanAtLimit }: TransferStory): Promise<void> {
  await fans.makeKnown(barbara);
  for (const to_user_id of [ana, randomUUID()]) await fans.offer(first, ana, { to_user_id });
  const toFanAtLimit = await fans.offer(first, ana, { to_user_id: fanAtLimit });
  await fans.answerOffer(toFanAtLimit, fanAtLimit, 'accept');
  await fans.answerOffer(toFanAtLimit, fanAtLimit, 'decline');
  await fans.answerOffer(toFanAtLimit, barbara, 'decline');
  await fans.answerOffer(toFanAtLimit, barbara, 'withdraw');
  const toAddress = await fans.offer(first, ana, { to_email: 'barbara@example.hr' });
  await fans.answerOffer(toAddress, ana, 'withdraw');
  const offer = await fans.offer(first, ana, { to_user_id: barbara });
  const lock = (transfers: string) => fans.request('PATCH', `/ops/matches/${match.id}`, { ...ops, body: { transfers } });
  await lock('locked');
  await fans.answerOffer(offer, barbara, 'accept');
  await fans.answerOffer({ ...offer, id: randomUUID() }, barbara, 'accept');
  await fans.answerOffer(offer, ana, 'decline');
  await lock('allowed');
  await fans.answerOffer(offer, barbara, 'accept');
  for (const answer of ['decline', 'withdraw'] as const)
    await fans.answerOffer(offer, answer === 'decline' ? barbara : ana, answer);
  await fans.answerOffer(toAddress, barbara, 'accept');
  await fans.answerOffer(toFanAtLimit, fanAtLimit, 'accept');
  await lock('locked');
  const [second] = (await fans.request('GET', '/tickets?limit=1', { as: ana })).items;
  await fans.offer(second.id, ana, { to_user_id: barbara });
  await lock('allowed');
  for (const as of [ana, barbara]) await fans.request('GET', '/transfers?limit=1', { as });
}

/** Checks out a hold that is set to one of an invitation, after its sale was closed. */
async function invitationOfClosedSale(fans: FanActions, as: string): Promise<void> {
  const match = await fans.createMatch();
  const held = await fans.holdIn(match, 0, 1, as);
  await fans.rows(`update reservations set invitation_id = gen_random_uuid() where id = $1`, [held.id]);
  await fans.changeSale(match.id, 'close');
  await fans.checkOut(held as never, as);
}

/** Creates an order that the fan gives up, and a hold that expires before its checkout. */
async function unpaidOrder(fans: FanActions, match: MatchOnSale, as: string): Promise<void> {
  const unpaid = await fans.holdIn(match, 0, 1, as);
  const { order_id: orderId, payment } = await fans.checkOut(unpaid as never, as);
  await fans.checkOut(unpaid as never, as);
  await fans.request('POST', `/ops/orders/${orderId}/refund`, { ...ops, body: {} });
  await fans.request('DELETE', '/me', { as });
  await fans.request('DELETE', `/reservations/${unpaid.id}`, { as });
  await fans.request('GET', `/orders/${orderId}`, { as });
  // The cancellation reaches the sandbox through the outbox.
  const confirmPayment = () =>
    fans.request('POST', `/sandbox/payments/${payment.intent_id}/confirm`, { body: { outcome: 'abandoned' }, key: null });
  for (let attempt = 0; (await confirmPayment()).code !== 'INVALID_STATE' && attempt < 50; attempt += 1) await pause100Ms();
  const expired = await fans.holdIn(match, 0, 1, as);
  await fans.rows(`update reservations set expires_at = now() - interval '1 second' where id = $1`, [expired.id]);
  await fans.checkOut(expired as never, as);
  await fans.request('GET', `/reservations/${expired.id}`, { as });
}
