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
let desk: RefundActions;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  desk = new RefundActions(office);
});
beforeEach(async () => void (await office.rows('delete from outbox')));
afterAll(() => opened.close());

const onSale = (facts = {}): Promise<MatchOnSale> =>
  putOnSale(office.monolith, { sectors: [seated('East A', 10, 20)], ...facts });
const steer = (match: MatchOnSale, call: string, body: unknown, key = newKey()) =>
  office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/${call}`, { ...ops, body, key });
const cancel = (match: MatchOnSale, reason = 'The pitch is under water', key?: string) => steer(match, 'cancel', { reason }, key);

/** Does what is due; `later` as if a minute had passed. */
async function doJobs({ later = false } = {}): Promise<number> {
  if (later) await office.rows(`update outbox set available_at = now() where destination = 'jobs'`);
  let done = 0;
  for (;;) {
    await desk.relay('jobs');
    const limits = { limit: 1, timeLimitSeconds: 10, untilEmpty: true, stop: new AbortController().signal };
    const did = await office.monolith.get(JobsApi).consume(limits);
    if (did === 0) return done;
    done += did;
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
async function expectSound(match: MatchOnSale): Promise<void> {
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.flatMap(({ rows }) => rows)).toEqual([]);
  const { capacity, available, held, sold, blocked } = await desk.report(match);
  expect(available + held + sold + blocked).toBe(capacity);
}

test('everybody is told, then every order is refunded, used and given tickets too, each once', async () => {
  const match = await onSale();
  const [plain, used, given, partly] = [
    await desk.paid(match, { quantity: 2 }),
    await desk.paid(match),
    await desk.paid(match),
    await desk.paid(match, { quantity: 2 }),
  ];
  await office.rows(`update tickets set status = 'used' where order_id = $1`, [used.orderId]);
  const receiver = randomUUID();
  await office.monolith.call('PUT', '/api/v1/me', { as: receiver, body: { email: 'b@example.hr', name: null, locale: 'en' } });
  await desk.transfer((await desk.tickets(given))[0] as TicketRow, receiver);
  await desk.refund(partly, [(await desk.tickets(partly))[0]?.id ?? '']);
  const elsewhere = await desk.paid(await onSale());

  const { status, json } = await cancel(match);
  expect([status, json.sale.status, json.cancel_reason, typeof json.cancelled_at]).toEqual([
    ...[200, 'closed', 'The pitch is under water', 'string'],
  ]);
  const seen = (await office.monolith.call('GET', `/api/v1/matches/${match.id}`)).json;
  expect([seen.sale.status, seen.cancelled_at]).toEqual(['closed', json.cancelled_at]);
  await doJobs();
  const told = await cancellations(match);
  expect(told.map(({ user_id }) => user_id).sort()).toEqual(
    [plain.held.userId, used.held.userId, receiver, partly.held.userId].sort(),
  );
  expect(told[0]).toMatchObject({ change: 'cancelled', previous_venue: 'Maksimir', reason: 'The pitch is under water' });
  const orders = [plain, used, given, partly];
  expect(await statusesOf([...orders, elsewhere])).toEqual(['refunded', 'refunded', 'refunded', 'refunded', 'completed']);
  const back: number[][] = [];
  for (const ordered of orders) back.push(await desk.givenBack(ordered));
  expect(back).toEqual([[5000], [2500], [2500], [2500, 2500]]);
  expect(await desk.mails(plain)).toEqual(['50.00 EUR']);
  expect(await desk.receiversTold(given)).toEqual([]);
  expect(await desk.report(match)).toMatchObject({
    ...{ available: 200, sold: 0, refunded: 6, revenue_cents: 0, orders: { refunded: 4 } },
  });
  await expectSound(match);
  expect(await doJobs({ later: true })).toBe(1);
  expect(await doJobs({ later: true })).toBe(0);
  expect((await office.rows(`select 1 from jobs where done_at is null and message ->> 'matchId' = $1`, [match.id])).length).toBe(
    0,
  );
});

test('it cannot be opened again; the same again changes nothing, and nobody is told of anything else', async () => {
  const match = await onSale();
  await desk.paid(match);
  const key = newKey();
  const first = await cancel(match, 'Storm', key);
  const replayed = await cancel(match, 'Storm', key);
  expect([replayed.text, replayed.headers['idempotency-replayed']]).toEqual([first.text, 'true']);
  const again = await cancel(match, 'Another reason');
  expect([again.status, again.json.cancel_reason, again.json.cancelled_at]).toEqual([200, 'Storm', first.json.cancelled_at]);
  const open = await steer(match, 'sale', { action: 'open' });
  expect([open.status, open.json.code, open.json.cancelled_at]).toEqual([409, 'INVALID_STATE', first.json.cancelled_at]);
  expect((await steer(match, 'sale', { action: 'close' })).json.sale.status).toBe('closed');
  expect((await office.hold(match)).json.code).toBe('SALE_NOT_OPEN');
  const patched = await office.monolith.call('PATCH', `/api/v1/ops/matches/${match.id}`, { ...ops, body: { venue: 'Poljud' } });
  expect(patched.json).toMatchObject({ venue: 'Poljud', cancel_reason: 'Storm' });
  const classes = await office.rows<{ class: string }>(`select class from jobs where message ->> 'matchId' = $1`, [match.id]);
  expect(classes.map((job) => job.class)).toEqual(['announce_cancellation']);
  await expect(office.rows(`update matches set sale_status = 'open' where id = $1`, [match.id])).rejects.toThrow(
    'matches_cancelled_closed',
  );
  await doJobs();
});

test.each([
  ['no reason', {}],
  ['an empty one', { reason: '' }],
  ['too long a one', { reason: 'x'.repeat(201) }],
])('%s is 400, and the match goes on', async (_, body) => {
  const match = await onSale();
  expect((await steer(match, 'cancel', body)).json.code).toBe('VALIDATION_FAILED');
  expect((await office.hold(match)).status).toBe(201);
});

test('holds and orders that await payment end as at a closing; who pays for one is refunded by the next round', async () => {
  const match = await onSale();
  const [held, waiting] = [await office.held(match), await office.ordered(await office.held(match))];
  await cancel(match);
  await doJobs();
  expect([await office.reservation(held), await statusesOf([waiting])]).toEqual(['held', ['awaiting_payment']]);
  const confirm = `/api/v1/sandbox/payments/${waiting.intentId}/confirm`;
  await office.monolith.call('POST', confirm, { key: null, body: { outcome: 'succeeded' } });
  expect(await office.settle(office.report(waiting))).toBe('completed');
  expect(await doJobs()).toBe(0);
  expect(await doJobs({ later: true })).toBe(1);
  expect([await statusesOf([waiting]), await desk.givenBack(waiting)]).toEqual([['refunded'], [2500]]);
  // Somebody still holds: it goes on.
  expect(await doJobs({ later: true })).toBe(1);
  await office.lapse(held);
  expect(await doJobs({ later: true })).toBe(1);
  expect(await doJobs({ later: true })).toBe(0);
  await expectSound(match);
});

test('a hold that was under way at the cancellation commits after the first round, which found nothing: its payment is refunded', async () => {
  const match = await onSale();
  const GATE = 4713;
  // It does not wait for the lock itself: that would end with the lock timeout.
  await office.rows(`create function wait_at_gate() returns trigger language plpgsql as $$ begin
    while exists (select from pg_locks where locktype = 'advisory' and objid = ${GATE}) loop perform pg_sleep(0.02); end loop;
    return new;
  end $$`);
  await office.rows(`create trigger gate before insert on reservations for each row execute function wait_at_gate()`);
  const gate = office.monolith.dataSource.createQueryRunner();
  await gate.query('select pg_advisory_lock($1)', [GATE]);
  // Without a key: in a table of so few keys all of them lie on one page, and SERIALIZABLE would take that for a conflict.
  const userId = randomUUID();
  const sectorId = match.sectors[0]?.id ?? '';
  const holding = office.monolith
    .get(HoldSeats)
    .execute({ matchId: match.id, userId, sessionToken: undefined, sectorId, quantity: 1 });
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
  while ((await office.rows(waiting)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await cancel(match);
  await doJobs();
  expect(await office.seatRows(match)).toEqual({ available: 200 });
  await gate.query('select pg_advisory_unlock($1)', [GATE]);
  await gate.release();
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
  await office.rows('drop trigger gate on reservations');
  const confirm = `/api/v1/sandbox/payments/${ordered.intentId}/confirm`;
  await office.monolith.call('POST', confirm, { key: null, body: { outcome: 'succeeded' } });
  expect(await office.settle(office.report(ordered))).toBe('completed');
  expect(await doJobs({ later: true })).toBe(1);
  expect([await statusesOf([ordered]), await desk.givenBack(ordered)]).toEqual([['refunded'], [2500]]);
  await expectSound(match);
  // Then a round that finds nothing, and that is the last one.
  expect(await doJobs({ later: true })).toBe(1);
  expect(await doJobs({ later: true })).toBe(0);
});

test('120 orders are refunded in three pages; one that breaks off half-way is taken up again, and nobody is refunded twice', async () => {
  const match = await onSale();
  const orders: Ordered[] = [];
  for (let n = 0; n < 12; n += 1) {
    const ten = await Promise.all(Array.from({ length: 10 }, () => desk.paid(match)));
    orders.push(...ten);
  }
  await cancel(match);
  // In the second page an order cannot be refunded: its seat is not what it sold.
  const broken = [...orders].sort((a, b) => (a.orderId < b.orderId ? -1 : 1))[70];
  const seatId = broken?.held.seatIds[0];
  await office.rows(`update seats set status = 'blocked', reservation_id = null where id = $1`, [seatId]);
  await doJobs();
  const done = async (): Promise<number> => (await desk.report(match)).orders.refunded ?? 0;
  expect(await done()).toBe(50);
  const [attempt] = await office.rows<{ attempts: { error: string }[] }>(
    `select attempts from jobs where class = 'refund_match' and message ->> 'matchId' = $1 and done_at is null`,
    [match.id],
  );
  expect(attempt?.attempts.at(-1)?.error).toContain(`order ${broken?.orderId}`);
  await office.rows(`update seats set status = 'sold', reservation_id = $2 where id = $1`, [seatId, broken?.held.id]);
  for (let waited = 0; (await done()) < 120 && waited < 100; waited += 1) {
    await doJobs();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(await done()).toBe(120);
  await desk.relay('payments');
  const [sandbox] = await office.rows<{ n: number; cents: number }>(
    `select count(*)::int as n, sum(amount_cents)::int as cents from sandbox_refunds where intent_id = any($1)`,
    [orders.map(({ intentId }) => intentId)],
  );
  expect(sandbox).toEqual({ n: 120, cents: 300_000 });
  await expectSound(match);
}, 60_000);
