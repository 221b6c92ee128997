import { TransactionManager, type Transaction } from '#application/transaction-manager';
import { setTimeout as pause } from 'node:timers/promises';
import { QuotaPlacesApi } from '../../apps/monolith/src/purchase/quota-places.api.ts';
import { IssueInvitations } from '../../apps/monolith/src/quota/invitations/issue-invitations.ts';
import { ListPlans } from '../../apps/monolith/src/quota/invitations/list-plans.ts';
import { PostgresInvitations } from '../../apps/monolith/src/quota/invitations/postgres-invitations.ts';
import { SendInvitations } from '../../apps/monolith/src/quota/invitations/send-invitations.ts';
import { InvitationCalls } from '../../apps/monolith/src/quota/testing/invitation-calls.ts';
import { QuotaCalls } from '../../apps/monolith/src/quota/testing/quota-calls.ts';
import { PostgresQuotas } from '../../apps/monolith/src/quota/tree/postgres-quotas.ts';
import type { TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { faultsOf, openReplicas, report, tally, type Replicas } from './concurrent-buyers.ts';
import { ReadCommittedTransactions } from './unguarded-refunds.ts';

// Lists of invitations against what ends the invitations of a quota: its return, and the cancellation of its match.
const LISTS = 24;
const SOON_MS = 600;

let replicas: Replicas;
let partners: readonly [QuotaCalls, QuotaCalls];
let guests: readonly [InvitationCalls, InvitationCalls];
let match: MatchOnSale;

beforeAll(async () => {
  replicas = await openReplicas();
  const [first, second] = replicas.offices;
  partners = [new QuotaCalls(first), new QuotaCalls(second)];
  guests = [new InvitationCalls(first), new InvitationCalls(second)];
});
beforeEach(async () => {
  match = await putOnSale(replicas.offices[0].monolith, { sectors: [seated('East A', 10, 20)] });
});
afterAll(() => replicas.close());

const rows = <T>(sql: string, ...values: unknown[]): Promise<T[]> => replicas.dataSource.query<T[]>(sql, values);
const count = async (sql: string, ...values: unknown[]): Promise<number> =>
  (await rows<{ n: number }>(`select count(*)::int as n from ${sql}`, ...values))[0]?.n ?? 0;
const openInvitations = (quotaId: string): Promise<number> =>
  count(`invitations where quota_id = $1 and status = 'open'`, quotaId);
const boundPlaces = (quotaId: string): Promise<number> => count(`seats where quota_id = $1 and bound_to is not null`, quotaId);
const created = (answers: readonly TestAnswer[]): number =>
  answers.flatMap(({ json }): { status: string }[] => json.items ?? []).filter(({ status }) => status === 'created').length;

/** Sends lists of two people each to both replicas, spread evenly over `spreadMs`. */
function sendLists(quotaId: string, spreadMs: number): Promise<TestAnswer[]> {
  return Promise.all(
    Array.from({ length: LISTS }, async (_, list) => {
      await pause((spreadMs * list) / LISTS);
      const people = ['a', 'b'].map((name) => ({ email: `${name}${list}@example.hr`, quantity: 1 }));
      return partners[list % 2 === 0 ? 0 : 1].invite(quotaId, people);
    }),
  );
}

/** Runs the task of both replicas again and again until `work` is done, and once more. */
async function withTask<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const tasks = guests.map(async (calls) => {
    while (!isDone) {
      await calls.runTask();
      await pause(20);
    }
  });
  const result = await work.finally(() => (isDone = true));
  await Promise.all(tasks);
  await guests[0].runTask();
  return result;
}

test.each(['public', 'keep'])(
  'lists and the return of their quota (%s) at once: nothing is bound in the returned quota',
  async (on_return) => {
    const quotaId = await partners[0].created(match, { places: [{ quantity: 100 }], on_return });
    await partners[0].setReturnDue([quotaId], -SOON_MS / 1000);
    const answers = await withTask(sendLists(quotaId, 2 * SOON_MS));
    report(`lists and the return (${on_return})`, { answers: tally(answers) });
    const refused = answers.filter(({ status, json }) => status === 409 && json.code === 'INVALID_STATE').length;
    const issued = answers.filter(({ status }) => status === 200).length;
    expect([refused > 0, issued > 0, refused + issued]).toEqual([true, true, LISTS]);
    expect([await openInvitations(quotaId), await boundPlaces(quotaId), created(answers)]).toEqual([0, 0, issued * 2]);
    const left = on_return === 'keep' ? 100 : 0;
    expect(await partners[0].quota(quotaId)).toMatchObject({ status: 'returned', places: { total: left, free: left } });
    expect(await replicas.offices[0].seatRows(match)).toEqual(left > 0 ? { available: 100, blocked: left } : { available: 200 });
    expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
  },
  60_000,
);

test('lists and the cancellation of the match at once: no invitation is open, and all places are free in the quota', async () => {
  const quotaId = await partners[0].created(match, { places: [{ quantity: 100 }] });
  const cancelled = pause(SOON_MS / 2).then(() =>
    replicas.offices[0].monolith.call('POST', `/api/v1/ops/matches/${match.id}/cancel`, { ...ops, body: { reason: 'storm' } }),
  );
  const answers = await withTask(sendLists(quotaId, SOON_MS));
  report('lists and the cancellation', { answers: tally(answers) });
  expect(Object.keys(tally(answers)).sort()).toEqual(['200', '409 INVALID_STATE']);
  expect([(await cancelled).status, await openInvitations(quotaId), await boundPlaces(quotaId)]).toEqual([200, 0, 0]);
  expect((await partners[0].quota(quotaId)).places).toMatchObject({ total: 100, free: 100 });
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

describe('a list that was checked before the return, and is added after its time', () => {
  /** Issues with a pause between the check of the quota and the new invitations, long enough for the return. */
  async function issueSlowly(quotaId: string, transactions: TransactionManager, quotas: PostgresQuotas): Promise<void> {
    const { monolith } = replicas.offices[0];
    const real = monolith.get(PostgresInvitations);
    const slow = Object.create(real, {
      add: {
        value: async (...list: Parameters<PostgresInvitations['add']>) => {
          await pause(2 * SOON_MS);
          return real.add(...list);
        },
      },
    }) as PostgresInvitations;
    const [plans, places, sending] = [monolith.get(ListPlans), monolith.get(QuotaPlacesApi), monolith.get(SendInvitations)];
    const issuing = new IssueInvitations(transactions, plans, places, quotas, slow, sending);
    const list = { quotaId, member: undefined, actor: 'test', listKey: null, expiresAt: null };
    await issuing.execute({ ...list, rows: [{ email: 'ana@example.hr', quantity: 2 }] });
  }
  /** Issues slowly, and tries the return in between. Returns the number of open invitations when both are done. */
  async function openAfterReturn(transactions: TransactionManager, quotas: PostgresQuotas): Promise<number> {
    const quotaId = await partners[0].created(match, { on_return: 'keep' });
    await partners[0].setReturnDue([quotaId], -SOON_MS / 1000);
    const issuing = issueSlowly(quotaId, transactions, quotas);
    await pause(1.5 * SOON_MS);
    await guests[1].runTask();
    await issuing;
    const { status } = await partners[0].quota(quotaId);
    if (status === 'open') await guests[1].runTask();
    expect((await partners[0].quota(quotaId)).status).toBe('returned');
    return openInvitations(quotaId);
  }

  test('keeps the return waiting: its invitations expire with the return', async () => {
    const { monolith } = replicas.offices[0];
    expect(await openAfterReturn(monolith.get(TransactionManager), monolith.get(PostgresQuotas))).toBe(0);
  });

  test('negative control: without the lock of the quota it leaves an open invitation in a returned quota', async () => {
    const { monolith } = replicas.offices[0];
    const real = monolith.get(PostgresQuotas);
    const unlocked = Object.create(real, {
      lock: { value: async (tx: Transaction, id: string) => (await real.chain(tx, id))[0] },
    }) as PostgresQuotas;
    expect(await openAfterReturn(new ReadCommittedTransactions(monolith.dataSource), unlocked)).toBe(1);
  });
});

test('negative control: without the task, lists and the cancellation leave open invitations, and verify reports it', async () => {
  const quotaId = await partners[0].created(match, { places: [{ quantity: 100 }] });
  await guests[0].issue(quotaId);
  await replicas.offices[0].monolith.call('POST', `/api/v1/ops/matches/${match.id}/cancel`, {
    ...ops,
    body: { reason: 'storm' },
  });
  await rows(`update matches set cancelled_at = cancelled_at - interval '6 minutes' where id = $1`, match.id);
  expect(await openInvitations(quotaId)).toBe(1);
  expect((await faultsOf(replicas.dataSource, match.id)).map(({ name }) => name)).toContain('invitation-ends');
});
