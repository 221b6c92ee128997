import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { JobsApi } from '../../jobs/jobs.api.ts';
import { newKey } from '../../testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { HoldSeats } from '../hold/application/hold-seats.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice, type Ordered } from '../testing/box-office.ts';
import { RefundActions, type TicketRow } from '../testing/refunding.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let actions: RefundActions;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  actions = new RefundActions(office);
});
beforeEach(async () => void (await office.rows('delete from outbox')));
afterAll(() => opened.close());

const onSale = (facts = {}): Promise<MatchOnSale> =>
  putOnSale(office.monolith, { sectors: [seated('East A', 10, 20)], ...facts });
const callOps = (match: MatchOnSale, call: string, body: unknown, key = newKey()) =>
  office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/${call}`, { ...ops, body, key });
const cancel = (match: MatchOnSale, reason = 'The pitch is under water', key?: string) =>
  callOps(match, 'cancel', { reason }, key);

/** Runs all due jobs and returns how many there were. With `afterDelay` it runs delayed jobs too, as if their delay had passed. */
async function runJobs({ afterDelay = false } = {}): Promise<number> {
  if (afterDelay) await office.rows(`update outbox set available_at = now() where destination = 'jobs'`);
  let done = 0;
  for (;;) {
    await actions.relay('jobs');
    const limits = { limit: 1, timeLimitSeconds: 10, untilEmpty: true, stop: new AbortController().signal };
    const ran = await office.monolith.get(JobsApi).consume(limits);
    if (ran === 0) return done;
    done += ran;
  }
}
const statusesOf = async (orders: readonly Ordered[]): Promise<string[]> =>
  Promise.all(orders.map(async (ordered) => (await office.order(ordered)).status));
const cancellations = async (match: MatchOnSale) =>
  (
    await office.rows<{ user_id: string; template: string; payload: Record<string, unknown> }>(
      `select body ->> 'user_id' as user_id, body -> 'payload' as payload from outbox where event = 'match.cancelled'`,
    )
  ).map(({ user_id, payload }) => ({ match: match.id, user_id, ...payload }));
async function expectInvariantsHold(match: MatchOnSale): Promise<void> {
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.flatMap(({ rows }) => rows)).toEqual([]);
  const { capacity, available, held, sold, blocked } = await actions.report(match);
  expect(available + held + sold + blocked).toBe(capacity);
}

test('cancelling a match informs all ticket holders, then refunds every order once, including used and transferred tickets', async () => {
  const match = await onSale();
  const [valid, used, transferred, partlyRefunded] = [
    await actions.paid(match, { quantity: 2 }),
    await actions.paid(match),
    await actions.paid(match),
    await actions.paid(match, { quantity: 2 }),
  ];
  await office.rows(`update tickets set status = 'used' where order_id = $1`, [used.orderId]);
  const receiver = randomUUID();
  await office.monolith.call('PUT', '/api/v1/me', { as: receiver, body: { email: 'b@example.hr', name: null, locale: 'en' } });
  await actions.transfer((await actions.tickets(transferred))[0] as TicketRow, receiver);
  await actions.refund(partlyRefunded, [(await actions.tickets(partlyRefunded))[0]?.id ?? '']);
  const ofAnotherMatch = await actions.paid(await onSale());

  const { status, json } = await cancel(match);
  expect([status, json.sale.status, json.cancel_reason, typeof json.cancelled_at]).toEqual([
    ...[200, 'closed', 'The pitch is under water', 'string'],
  ]);
  const publicMatch = (await office.monolith.call('GET', `/api/v1/matches/${match.id}`)).json;
  expect([publicMatch.sale.status, publicMatch.cancelled_at]).toEqual(['closed', json.cancelled_at]);
  await runJobs();
  const notices = await cancellations(match);
  expect(notices.map(({ user_id }) => user_id).sort()).toEqual(
    [valid.held.userId, used.held.userId, receiver, partlyRefunded.held.userId].sort(),
  );
  expect(notices[0]).toMatchObject({ change: 'cancelled', previous_venue: 'Maksimir', reason: 'The pitch is under water' });
  const orders = [valid, used, transferred, partlyRefunded];
  expect(await statusesOf([...orders, ofAnotherMatch])).toEqual(['refunded', 'refunded', 'refunded', 'refunded', 'completed']);
  const refundedCents: number[][] = [];
  for (const ordered of orders) refundedCents.push(await actions.givenBack(ordered));
  expect(refundedCents).toEqual([[5000], [2500], [2500], [2500, 2500]]);
  expect(await actions.mails(valid)).toEqual(['50.00 EUR']);
  expect(await actions.receiverMails(transferred)).toEqual([]);
  expect(await actions.report(match)).toMatchObject({
    ...{ available: 200, sold: 0, refunded: 6, revenue_cents: 0, orders: { refunded: 4 } },
  });
  await expectInvariantsHold(match);
  expect(await runJobs({ afterDelay: true })).toBe(1);
  expect(await runJobs({ afterDelay: true })).toBe(0);
  expect((await office.rows(`select 1 from jobs where done_at is null and message ->> 'matchId' = $1`, [match.id])).length).toBe(
    0,
  );
});

test('the sale of a cancelled match cannot be opened again; a second cancellation changes nothing and informs nobody again', async () => {
  const match = await onSale();
  await actions.paid(match);
  const key = newKey();
  const first = await cancel(match, 'Storm', key);
  const replayed = await cancel(match, 'Storm', key);
  expect([replayed.text, replayed.headers['idempotency-replayed']]).toEqual([first.text, 'true']);
  const again = await cancel(match, 'Another reason');
  expect([again.status, again.json.cancel_reason, again.json.cancelled_at]).toEqual([200, 'Storm', first.json.cancelled_at]);
  const open = await callOps(match, 'sale', { action: 'open' });
  expect([open.status, open.json.code, open.json.cancelled_at]).toEqual([409, 'INVALID_STATE', first.json.cancelled_at]);
  expect((await callOps(match, 'sale', { action: 'close' })).json.sale.status).toBe('closed');
  expect((await office.hold(match)).json.code).toBe('SALE_NOT_OPEN');
  const patched = await office.monolith.call('PATCH', `/api/v1/ops/matches/${match.id}`, { ...ops, body: { venue: 'Poljud' } });
  expect(patched.json).toMatchObject({ venue: 'Poljud', cancel_reason: 'Storm' });
  const classes = await office.rows<{ class: string }>(
    `select class from jobs where message ->> 'matchId' = $1 and class <> 'index_match'`,
    [match.id],
  );
  expect(classes.map((job) => job.class)).toEqual(['announce_cancellation']);
  await expect(office.rows(`update matches set sale_status = 'open' where id = $1`, [match.id])).rejects.toThrow(
    'matches_cancelled_closed',
  );
  await runJobs();
});

test.each([
  ['without a reason', {}],
  ['with an empty reason', { reason: '' }],
  ['with a reason of 201 characters', { reason: 'x'.repeat(201) }],
])('cancelling a match %s is 400, and the sale goes on', async (_, body) => {
  const match = await onSale();
  expect((await callOps(match, 'cancel', body)).json.code).toBe('VALIDATION_FAILED');
  expect((await office.hold(match)).status).toBe(201);
});

test('holds and unpaid orders of a cancelled match stay until they expire; an order that is paid meanwhile is refunded a minute later', async () => {
  const match = await onSale();
  const [held, unpaid] = [await office.held(match), await office.ordered(await office.held(match))];
  await cancel(match);
  await runJobs();
  expect([await office.reservation(held), await statusesOf([unpaid])]).toEqual(['held', ['awaiting_payment']]);
  const confirm = `/api/v1/sandbox/payments/${unpaid.intentId}/confirm`;
  await office.monolith.call('POST', confirm, { key: null, body: { outcome: 'succeeded' } });
  expect(await office.settle(office.report(unpaid))).toBe('completed');
  expect(await runJobs()).toBe(0);
  expect(await runJobs({ afterDelay: true })).toBe(1);
  expect([await statusesOf([unpaid]), await actions.givenBack(unpaid)]).toEqual([['refunded'], [2500]]);
  // A fan still holds a seat, so there is another pass.
  expect(await runJobs({ afterDelay: true })).toBe(1);
  await office.lapse(held);
  expect(await runJobs({ afterDelay: true })).toBe(1);
  expect(await runJobs({ afterDelay: true })).toBe(0);
  await expectInvariantsHold(match);
});

test('a hold that commits after the cancellation and after the first pass of refunds: its payment is refunded by a later pass', async () => {
  const match = await onSale();
  const LOCK_ID = 4713;
  // The trigger polls instead of waiting for the lock: a wait would end with the lock timeout.
  await office.rows(`create function wait_for_lock() returns trigger language plpgsql as $$ begin
    while exists (select from pg_locks where locktype = 'advisory' and objid = ${LOCK_ID}) loop perform pg_sleep(0.02); end loop;
    return new;
  end $$`);
  await office.rows(`create trigger pause before insert on reservations for each row execute function wait_for_lock()`);
  const locker = office.monolith.dataSource.createQueryRunner();
  await locker.query('select pg_advisory_lock($1)', [LOCK_ID]);
  // Without an idempotency key: in a small table all keys are on one page, which SERIALIZABLE would see as a conflict.
  const userId = randomUUID();
  const sectorId = match.sectors[0]?.id ?? '';
  const holding = office.monolith
    .get(HoldSeats)
    .execute({ matchId: match.id, userId, sessionToken: undefined, sectorId, quantity: 1 });
  const isPaused = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
  while ((await office.rows(isPaused)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await cancel(match);
  await runJobs();
  expect(await office.seatRows(match)).toEqual({ available: 200 });
  await locker.query('select pg_advisory_unlock($1)', [LOCK_ID]);
  await locker.release();
  const { id, seats } = await holding;
  const held = {
    id,
    userId,
    status: 'held',
    seats: [],
    seatIds: seats.map(({ seatId }) => seatId),
    total_cents: 2500,
    expires_at: '',
  };
  const ordered = await office.ordered(held);
  await office.rows('drop trigger pause on reservations');
  const confirm = `/api/v1/sandbox/payments/${ordered.intentId}/confirm`;
  await office.monolith.call('POST', confirm, { key: null, body: { outcome: 'succeeded' } });
  expect(await office.settle(office.report(ordered))).toBe('completed');
  expect(await runJobs({ afterDelay: true })).toBe(1);
  expect([await statusesOf([ordered]), await actions.givenBack(ordered)]).toEqual([['refunded'], [2500]]);
  await expectInvariantsHold(match);
  // The next pass finds nothing and is the last one.
  expect(await runJobs({ afterDelay: true })).toBe(1);
  expect(await runJobs({ afterDelay: true })).toBe(0);
});

test('the 120 orders of a cancelled match are refunded in three pages; a failed page is retried, and no order is refunded twice', async () => {
  const match = await onSale();
  const orders: Ordered[] = [];
  for (let n = 0; n < 12; n += 1) {
    const ten = await Promise.all(Array.from({ length: 10 }, () => actions.paid(match)));
    orders.push(...ten);
  }
  await cancel(match);
  // One order on the second page cannot be refunded, because its seat is no longer sold.
  const broken = [...orders].sort((a, b) => (a.orderId < b.orderId ? -1 : 1))[70];
  const seatId = broken?.held.seatIds[0];
  await office.rows(`update seats set status = 'blocked', reservation_id = null where id = $1`, [seatId]);
  await runJobs();
  const refundedOrders = async (): Promise<number> => (await actions.report(match)).orders.refunded ?? 0;
  expect(await refundedOrders()).toBe(50);
  const [attempt] = await office.rows<{ attempts: { error: string }[] }>(
    `select attempts from jobs where class = 'refund_match' and message ->> 'matchId' = $1 and done_at is null`,
    [match.id],
  );
  expect(attempt?.attempts.at(-1)?.error).toContain(`order ${broken?.orderId}`);
  await office.rows(`update seats set status = 'sold', reservation_id = $2 where id = $1`, [seatId, broken?.held.id]);
  for (let waited = 0; (await refundedOrders()) < 120 && waited < 100; waited += 1) {
    await runJobs();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(await refundedOrders()).toBe(120);
  await actions.relay('payments');
  const [sandbox] = await office.rows<{ n: number; cents: number }>(
    `select count(*)::int as n, sum(amount_cents)::int as cents from sandbox_refunds where intent_id = any($1)`,
    [orders.map(({ intentId }) => intentId)],
  );
  expect(sandbox).toEqual({ n: 120, cents: 300_000 });
  await expectInvariantsHold(match);
}, 60_000);
