import { runReadCommitted } from '#platform/postgres/read-committed';
import { namedSql } from '#platform/postgres/named-sql';
import { randomUUID } from 'node:crypto';
import { INSERT_INVITATIONS } from '../../apps/monolith/src/quota/invitations/invitations.sql.ts';
import { BIND_PLACES_SQL } from '../../apps/monolith/src/purchase/quota-places/quota-places.sql.ts';
import { partner, QuotaCalls } from '../../apps/monolith/src/quota/testing/quota-calls.ts';
import type { TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { faultsOf, openReplicas, report, tally, timed, type Replicas } from './concurrent-buyers.ts';

let replicas: Replicas;
let partners: readonly [QuotaCalls, QuotaCalls];

beforeAll(async () => {
  replicas = await openReplicas();
  partners = [new QuotaCalls(replicas.offices[0]), new QuotaCalls(replicas.offices[1])];
});
afterAll(() => replicas.close());

const partnerOf = (index: number): QuotaCalls => partners[index % 2 === 0 ? 0 : 1];
const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const guests = (count: number, prefix: string, quantity = 1) =>
  Array.from({ length: count }, (_, index) => ({ email: `${prefix}${index}@example.hr`, quantity }));
const verdicts = ({ json }: TestAnswer): string[] =>
  json.items.map(({ status, code }: { status: string; code?: string }) => code ?? status);
const rows = <T>(sql: string, ...values: unknown[]): Promise<T[]> => replicas.dataSource.query<T[]>(sql, values);

/** A quota of `quantity` places of a new match, with two members. */
async function newQuota(quantity: number): Promise<{ match: MatchOnSale; quota: string; members: string[] }> {
  const match = await putOnSale(replicas.offices[0].monolith, { sectors: [seated('North', 20, 40)] });
  const members = [randomUUID(), randomUUID()];
  const quota = await partners[0].created(match, { places: [{ quantity }], members });
  return { match, quota, members };
}

/** Addresses that a list has invited more than once. */
const invitedTwice = (quota: string): Promise<unknown[]> =>
  rows(
    `select lower(email) from invitations where quota_id = $1 and list_key is not null group by list_key, 1 having count(*) > 1`,
    quota,
  );
/** Places that are in more than one open invitation. */
const boundTwice = (quota: string): Promise<unknown[]> =>
  rows(
    `select seat.id from invitations i, unnest(i.seat_ids) as seat(id) where i.quota_id = $1 and i.status = 'open'
     group by 1 having count(*) > 1`,
    quota,
  );
const mailCount = async (match: MatchOnSale): Promise<number> =>
  (
    await rows<{ n: number }>(
      `select count(*)::int as n from outbox where event = 'quota.invitation' and body->'about'->>'match_id' = $1`,
      match.id,
    )
  )[0]?.n ?? 0;

test('two partners invite the last four places at once: one gets them, the other gets QUOTA_EXCEEDED', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { match, quota, members } = await newQuota(4);
    const answers = await times(2, (index) =>
      partnerOf(index).invite(quota, guests(1, `p${index}-`, 4), { caller: partner(members[index]!) }),
    );
    expect(answers.flatMap(verdicts).sort()).toEqual(['QUOTA_EXCEEDED', 'created']);
    expect([await boundTwice(quota), await mailCount(match)]).toEqual([[], 1]);
    expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
  }
}, 60_000);

test('64 lists to one quota at once all get their verdicts, and no place is bound twice', async () => {
  const { match, quota } = await newQuota(300);
  const { result: answers, ms } = await timed(() =>
    times(64, (index) => partnerOf(index).invite(quota, guests(5, `l${index}-`))),
  );
  report('64 lists of 5 to 300 places', { answers: tally(answers), ms: Math.round(ms), retries: await replicas.retries() });
  const all = answers.flatMap(verdicts);
  expect([all.filter((verdict) => verdict === 'created').length, all.length]).toEqual([300, 320]);
  expect([await boundTwice(quota), await mailCount(match)]).toEqual([[], 300]);
  expect((await partners[0].quota(quota)).places).toMatchObject({ free: 0, invited: 300 });
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

test('the same list is sent eight times at once: each address is invited once, and all answers have its id', async () => {
  const { match, quota } = await newQuota(200);
  const answers = await times(8, (index) => partnerOf(index).invite(quota, guests(20, 'guest'), { list_key: 'sponsors' }));
  expect(tally(answers)).toEqual({ 200: 8 });
  const created = answers.flatMap(verdicts).filter((verdict) => verdict === 'created');
  const ids = answers.flatMap(({ json }) => json.items.map(({ id }: { id?: string }) => id));
  expect([created.length, new Set(ids).size, await mailCount(match)]).toEqual([20, 20, 20]);
  expect([await invitedTwice(quota), await boundTwice(quota)]).toEqual([[], []]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

test('lists that share half of their addresses invite each address once', async () => {
  const { match, quota } = await newQuota(200);
  const people = guests(60, 'guest');
  const answers = await times(4, (index) =>
    partnerOf(index).invite(quota, [...people.slice(index * 10, index * 10 + 20)].toReversed(), { list_key: 'a' }),
  );
  expect(tally(answers)).toEqual({ 200: 4 });
  expect([await mailCount(match), await invitedTwice(quota)]).toEqual([50, []]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

test('two lists of one key invite the same people to places of different sectors: each address is invited once', async () => {
  const match = await putOnSale(replicas.offices[0].monolith, { sectors: [seated('North'), seated('South')] });
  const sectors = match.sectors.map(({ id }) => id);
  for (let round = 0; round < 5; round += 1) {
    const places = sectors.map((sector_id) => ({ sector_id, quantity: 10 }));
    const quota = await partners[0].created(match, { name: `Round ${round}`, places });
    const answers = await times(2, (index) => {
      const people = guests(10, 'guest').map((guest) => ({ ...guest, sector_id: sectors[index] }));
      return partnerOf(index).invite(quota, people, { list_key: 'a' });
    });
    expect(answers.flatMap(verdicts).sort()).toEqual([...Array(10).fill('created'), ...Array(10).fill('duplicate')]);
    const [first, second] = answers.map(({ json }) => json.items.map(({ id }: { id: string }) => id));
    expect([second, await invitedTwice(quota)]).toEqual([first, []]);
  }
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

describe('negative controls', () => {
  /** Runs the statements of two lists at READ COMMITTED. Both have read that the place is free and the address not invited. */
  const inviteUnguarded = (quota: string, matchId: string, place: { seatId: string; sectorId: string }, listKey: string | null) =>
    times(2, () =>
      runReadCommitted(replicas.dataSource, async (client) => {
        const id = randomUUID();
        const bind = namedSql<{ seatIds: string[]; quotaId: string; owners: string }>(
          'bind-places-without-guard',
          BIND_PLACES_SQL.replace(/ and bound_to is null\s+and \(.*\) returning/s, ' returning'),
        );
        const facts = { matchId, quotaId: quota, listKey, expiresAt: new Date(Date.now() + 3_600_000), actor: 'test' };
        const invitation = { id, email: 'ana@example.hr', name: null, userId: null, locale: 'hr', note: null };
        const added = { ...invitation, sectorId: place.sectorId, seatIds: [place.seatId] };
        const insert = INSERT_INVITATIONS.text.replace(/on conflict .* do nothing/, '');
        await client.query(insert, [JSON.stringify(facts), JSON.stringify([added])]);
        const { text, values } = bind.with({
          seatIds: [place.seatId],
          quotaId: quota,
          owners: JSON.stringify({ [place.seatId]: id }),
        });
        await client.query(text, values);
      }),
    );
  const anyPlace = async (quota: string): Promise<{ seatId: string; sectorId: string }> =>
    (
      await rows<{ seatId: string; sectorId: string }>(
        `select id as "seatId", sector_id as "sectorId" from seats where quota_id = $1`,
        quota,
      )
    )[0]!;

  test('without the check of free places in `bind`, a place is in two invitations', async () => {
    const { match, quota } = await newQuota(4);
    await inviteUnguarded(quota, match.id, await anyPlace(quota), null);
    expect(await boundTwice(quota)).toHaveLength(1);
  });

  test('without the unique index of lists, an address is invited twice', async () => {
    await rows(`drop index invitations_of_list`);
    const { match, quota } = await newQuota(4);
    await inviteUnguarded(quota, match.id, await anyPlace(quota), 'sponsors');
    expect(await invitedTwice(quota)).toHaveLength(1);
  });
});
