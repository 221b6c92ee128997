import { TransactionManager } from '#application/transaction-manager';
import { emailJob } from '#contracts/queue-jobs';
import { CatalogApi } from '../../catalog/catalog.api.ts';
import { openBoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import { killedAtEachStep } from '../../testing/dying-transactions.ts';
import { openMonolith, ops, putOnSale, seated, type MatchOnSale, type WholeMonolith } from '../../testing/whole-monolith.ts';
import { EndInvitations } from '../claims/end-invitations.ts';
import { QuotaDeadlines } from '../moves/quota-deadlines.schedule.ts';
import { PostgresMoves } from '../moves/postgres-moves.ts';
import { WebhookEvents } from '../../webhooks/webhook-events.api.ts';
import { ReturnPlaces } from '../moves/return-places.ts';
import { PostgresQuotas } from '../tree/postgres-quotas.ts';
import { InvitationCalls } from '../testing/invitation-calls.ts';
import { hoursFromNow, QuotaCalls } from '../testing/quota-calls.ts';
import { PostgresNotices } from './postgres-notices.ts';
import { QuotaNotices } from './quota-notices.ts';
import { ReturnMails } from './return-mails.ts';

const DAY_HOURS = 24;
const WEEK_HOURS = 7 * DAY_HOURS;
let opened: OpenBoxOffice;
let calls: QuotaCalls;
let guests: InvitationCalls;
let match: MatchOnSale;

beforeAll(async () => {
  opened = await openBoxOffice();
  calls = new QuotaCalls(opened.office);
  guests = new InvitationCalls(opened.office);
});
beforeEach(async () => {
  await opened.office.rows('truncate outbox, matches cascade');
  match = await putOnSale(opened.office.monolith, { kickoff_at: hoursFromNow(24 * 60), sectors: [seated('East A', 20, 10)] });
});
afterAll(() => opened.close());

const planDue = (): Promise<number> => opened.office.monolith.get(QuotaNotices).planDue();
const returnDue = (): Promise<number> => opened.office.monolith.get(QuotaDeadlines).runOnce();

/** Creates a quota of four places, long ago, with a contact; it returns in so many hours. */
async function quotaReturningIn(
  hours: number,
  { createdHoursAgo = 24 * 30, ...fields }: Record<string, unknown> = {},
): Promise<string> {
  const id = await calls.created(match, { contact_email: 'ured@hns.example', return_at: hoursFromNow(24 * 59), ...fields });
  await setTimes(id, hours, createdHoursAgo as number);
  return id;
}

const setTimes = (id: string, returnsInHours: number, createdHoursAgo: number): Promise<unknown> =>
  opened.office.rows(
    `update quotas set return_at = now() + make_interval(secs => $2), created_at = now() - make_interval(secs => $3) where id = $1`,
    [id, returnsInHours * 3600, createdHoursAgo * 3600],
  );

/** The notices in the outbox: which, and how many places. */
const notices = async (): Promise<string[]> =>
  (await guests.messages(match)).map(({ body }) => `${body.payload.notice} ${body.payload.places_count}`);
const marks = (id: string) =>
  opened.office.rows<{ notice: string }>(`select notice from quota_notices where quota_id = $1 order by planned_at`, [id]);

test('the contact gets one mail 7 days before the return, one 1 day before and one when it has happened', async () => {
  const id = await quotaReturningIn(WEEK_HOURS + 1);
  expect(await planDue()).toBe(0);
  await setTimes(id, WEEK_HOURS - 1, 24 * 30);
  expect([await planDue(), await planDue()]).toEqual([1, 0]);
  // The contact hears of the same return again, now a day before it.
  await opened.office.rows(`update quota_notices set return_at = return_at - interval '145 hours'`);
  await opened.office.rows(`update quotas set return_at = return_at - interval '145 hours' where id = $1`, [id]);
  expect([await planDue(), await planDue()]).toEqual([1, 0]);
  await calls.setReturnDue([id]);
  expect([await planDue(), await returnDue(), await returnDue(), await planDue()]).toEqual([0, 1, 0, 0]);
  expect(await notices()).toEqual(['week 4', 'day 4', 'returned 4']);
  expect(await marks(id)).toEqual([{ notice: 'week' }, { notice: 'day' }, { notice: 'returned' }]);
});

test('a notice has what the worker needs: quota, match, deadline, places and where they go, in Croatian', async () => {
  const id = await quotaReturningIn(DAY_HOURS - 1);
  await planDue();
  const [{ return_at }] = (await opened.office.rows(`select return_at from quotas where id = $1`, [id])) as [{ return_at: Date }];
  const [message] = await guests.messages(match);
  expect(message?.event).toBe('quota.return_due');
  expect(emailJob.parse(message?.body)).toMatchObject({
    template: 'quota_return',
    recipient: 'ured@hns.example',
    useful_until: return_at.toISOString(),
    about: { match_id: match.id, quota_id: id },
    payload: {
      match_name: 'Hrvatska vs Italija',
      venue: 'Maksimir',
      locale: 'hr',
      quota_name: 'Torcida',
      notice: 'day',
      return_at: return_at.toISOString(),
      places_count: 4,
      on_return: 'public',
    },
  });
});

test('a quota without free places gets no notice before its return; it gets one when places become free', async () => {
  const id = await quotaReturningIn(WEEK_HOURS - 1);
  const invited = await guests.issuedBefore(id, { quantity: 4 });
  expect(await planDue()).toBe(0);
  await opened.office.rows(`update seats set bound_to = null where id = $1`, [invited.seatIds[0]]);
  expect(await planDue()).toBe(1);
  expect(await notices()).toEqual(['week 1']);
});

test.each([
  ['5 days before its return gets no notice of the week', WEEK_HOURS - 50, 1, 0],
  ['5 days before its return gets the notice of the day', DAY_HOURS - 1, 24 * 4, 1],
  ['12 hours before its return gets no notice of the day', DAY_HOURS - 12, 0, 0],
])('a quota that was created %s', async (_, returnsInHours, createdHoursAgo, expected) => {
  await quotaReturningIn(returnsInHours, { createdHoursAgo });
  expect(await planDue()).toBe(expected);
});

test('a quota without a contact gets no notice, neither before its return nor after it', async () => {
  const id = await quotaReturningIn(DAY_HOURS - 1, { contact_email: null });
  expect(await planDue()).toBe(0);
  await calls.setReturnDue([id]);
  expect(await returnDue()).toBe(1);
  expect([await notices(), await marks(id)]).toEqual([[], []]);
});

test('a return that is moved is announced again', async () => {
  const id = await quotaReturningIn(DAY_HOURS - 1);
  await planDue();
  await setTimes(id, DAY_HOURS - 2, 24 * 30);
  expect(await planDue()).toBe(1);
  expect(await notices()).toEqual(['day 4', 'day 4']);
});

test('the notice of a return to the parent names the parent; with keep it says how many places stay; places that come later are not told', async () => {
  const parent = await calls.created(match, {
    name: 'HNS',
    kind: 'federation',
    places: [{ sector_id: match.sectors[0]?.id, quantity: 10 }],
  });
  const child = await quotaReturningIn(1, { parent_id: parent, on_return: 'parent' });
  const kept = await quotaReturningIn(1, { on_return: 'keep' });
  await calls.sell(child, 1);
  await calls.setReturnDue([child, kept]);
  expect(await returnDue()).toBe(2);
  const payloads = (await guests.messages(match)).map(({ event, body }) => ({ event, ...body.payload }));
  expect(payloads.sort((a, b) => a.places_count - b.places_count)).toMatchObject([
    { event: 'quota.returned', notice: 'returned', places_count: 3, on_return: 'parent', parent_name: 'HNS' },
    { event: 'quota.returned', notice: 'returned', places_count: 4, on_return: 'keep' },
  ]);
  // As a refund does it.
  await opened.office.rows(`update seats set status = 'blocked', reservation_id = null where quota_id = $1`, [child]);
  expect(await returnDue()).toBe(1);
  expect(await notices()).toHaveLength(2);
});

test('a return without a free place is told, too', async () => {
  const id = await quotaReturningIn(1);
  await calls.sell(id, 4);
  await calls.setReturnDue([id]);
  await returnDue();
  expect(await notices()).toEqual(['returned 0']);
});

test('nobody is told about the return of a quota of a cancelled match', async () => {
  const id = await quotaReturningIn(DAY_HOURS - 1);
  const body = { reason: 'Snow' };
  await opened.office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/cancel`, { ...ops, body });
  expect(await planDue()).toBe(0);
  await calls.setReturnDue([id]);
  expect(await returnDue()).toBe(1);
  expect(await notices()).toEqual([]);
});

describe('two replicas', () => {
  let other: WholeMonolith;
  beforeAll(async () => void (other = await openMonolith(opened.settings)));
  afterAll(() => other.close());

  test('that plan and return at once tell each of ten contacts each notice once', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 10; n += 1) ids.push(await quotaReturningIn(DAY_HOURS - 1));
    const replicas = [opened.office.monolith, other, opened.office.monolith, other];
    await Promise.all(replicas.map((replica) => replica.get(QuotaNotices).planDue()));
    await calls.setReturnDue(ids);
    await Promise.all(replicas.map((replica) => replica.get(QuotaDeadlines).runOnce()));
    await returnDue();
    const told = (await guests.messages(match)).map(({ body }) => `${body.payload.notice} ${body.about.quota_id}`);
    expect(told.sort()).toEqual(['day', 'returned'].flatMap((notice) => ids.map((id) => `${notice} ${id}`)).sort());
  }, 30_000);
});

describe('a process that is killed at any step', () => {
  const resolve = <T>(token: abstract new (...dependencies: never[]) => T): T => opened.office.monolith.get(token as never);
  const noticesWith = (transactions: TransactionManager): QuotaNotices =>
    new QuotaNotices(
      transactions,
      resolve(CatalogApi),
      resolve(QuotaPlacesApi),
      resolve(PostgresNotices),
      resolve(ReturnMails),
      resolve(WebhookEvents),
    );
  const traces = async (id: string) => ({
    mails: await notices(),
    marks: (await marks(id)).map(({ notice }) => notice),
    status: (await calls.quota(id)).status,
  });

  test('before the commit leaves no trace of a notice of the day; the next run sends it once', async () => {
    const id = await quotaReturningIn(DAY_HOURS - 1);
    const atDeath: unknown[] = [];
    const deaths = await killedAtEachStep(
      resolve(TransactionManager),
      (transactions) => noticesWith(transactions).planDue(),
      async () => void atDeath.push(await traces(id)),
    );
    const none = { mails: [], marks: [], status: 'open' };
    const done = { mails: ['day 4'], marks: ['day'], status: 'open' };
    // Before the mark, the read of the match, the mail, the commit; and after the commit.
    expect([deaths, atDeath]).toEqual([5, [none, none, none, none, done]]);
    expect([await planDue(), await traces(id)]).toEqual([0, done]);
  });

  test('before the commit neither returns places nor tells of it; the next run does both, once', async () => {
    const id = await quotaReturningIn(1);
    await calls.setReturnDue([id]);
    const atDeath: unknown[] = [];
    const deaths = await killedAtEachStep(
      resolve(TransactionManager),
      (transactions) => {
        const [quotas, moves] = [resolve(PostgresQuotas), resolve(PostgresMoves)];
        const [places, ending] = [resolve(QuotaPlacesApi), resolve(EndInvitations)];
        return new ReturnPlaces(transactions, places, quotas, moves, ending, noticesWith(transactions)).returnDue();
      },
      async () => void atDeath.push(await traces(id)),
    );
    const none = { mails: [], marks: [], status: 'open' };
    const done = { mails: ['returned 4'], marks: ['returned'], status: 'returned' };
    expect(deaths).toBeGreaterThan(6);
    expect(atDeath).toEqual([...Array.from({ length: deaths - 1 }, () => none), done]);
    expect([await returnDue(), await traces(id)]).toEqual([0, done]);
    expect(await calls.ledger(match, { [id]: 'quota' })).toEqual(['creation 4: public → quota', 'return 4: quota → public']);
  });

  test('negative control: a notice whose mark is lost is sent twice', async () => {
    await quotaReturningIn(DAY_HOURS - 1);
    await planDue();
    await opened.office.rows('truncate quota_notices');
    expect(await planDue()).toBe(1);
    expect(await notices()).toEqual(['day 4', 'day 4']);
  });
});
