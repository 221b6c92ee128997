import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ReturnPlaces } from '../../apps/monolith/src/quota/moves/return-places.ts';
import { EndInvitations } from '../../apps/monolith/src/quota/claims/end-invitations.ts';
import { InvitationCalls, type Issued } from '../../apps/monolith/src/quota/testing/invitation-calls.ts';
import { QuotaCalls } from '../../apps/monolith/src/quota/testing/quota-calls.ts';
import type { TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { faultsOf, openReplicas, report, seatsClaimedTwice, tally, type Replicas } from './concurrent-buyers.ts';
import { unguardedClaims } from './unguarded-claims.ts';

const ROUNDS = 12;
/** The time until the end of invitations, in the tests of claims around that end. */
const SOON_MS = 600;

let replicas: Replicas;
let guests: readonly [InvitationCalls, InvitationCalls];
let operators: QuotaCalls;

beforeAll(async () => {
  replicas = await openReplicas();
  guests = [new InvitationCalls(replicas.offices[0]), new InvitationCalls(replicas.offices[1])];
  operators = new QuotaCalls(replicas.offices[0]);
});
afterAll(() => replicas.close());

const guestsOf = (index: number): InvitationCalls => guests[index % 2 === 0 ? 0 : 1];

interface Invited {
  readonly match: MatchOnSale;
  readonly quotaId: string;
  readonly invitations: readonly Issued[];
}

/** A match with a quota of which each pair of places is invited. */
async function invited(count: number, price?: { price_cents: number }): Promise<Invited> {
  const match = await putOnSale(replicas.offices[0].monolith, { sectors: [seated('East A', 10, 20)] });
  const sectorId = match.sectors[0]?.id ?? '';
  const quotaId = await operators.created(match, {
    places: [{ sector_id: sectorId, quantity: count * 2 }],
    ...(price ? { price_cents: { [sectorId]: price.price_cents } } : {}),
  });
  const invitations: Issued[] = [];
  for (let n = 0; n < count; n += 1) invitations.push(await guests[0].issue(quotaId));
  return { match, quotaId, invitations };
}

/** Sets the end of all invitations of the quota. */
const endsSoon = (quotaId: string, inMs = SOON_MS) =>
  replicas.dataSource.query(
    `update invitations set expires_at = now() + make_interval(secs => $2::float / 1000) where quota_id = $1`,
    [quotaId, inMs],
  );
const placesOf = async (quotaId: string) => (await operators.quota(quotaId)).places;
const livingHolds = async ({ match }: Invited): Promise<number> =>
  (
    await replicas.dataSource.query<unknown[]>(
      `select from reservations where match_id = $1 and status in ('held', 'ordered', 'completed') and expires_at > now()`,
      [match.id],
    )
  ).length;
const ofStatus = (answers: readonly TestAnswer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

/** No place is held or sold twice, and the database has no fault. */
async function expectNoFault({ match }: Invited): Promise<void> {
  expect([await seatsClaimedTwice(replicas.dataSource, match.id), await faultsOf(replicas.dataSource, match.id)]).toEqual([
    [],
    [],
  ]);
}

test('of eight fans who claim the same invitation at once, one gets the places; each repetition of that fan is 200', async () => {
  const sale = await invited(ROUNDS);
  const all: TestAnswer[] = [];
  for (const invitation of sale.invitations) {
    const fans = Array.from({ length: 4 }, () => randomUUID());
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => guestsOf(index).claim(invitation, fans[index % 4] ?? '')),
    );
    expect(tally(answers)).toEqual({ '200': 1, '201': 1, '409 INVITATION_CLAIMED': 6 });
    all.push(...answers);
  }
  report('eight claims of each invitation', { answers: tally(all) });
  expect(await livingHolds(sale)).toBe(ROUNDS);
  await expectNoFault(sale);
}, 60_000);

test('a claim and a withdrawal at once: the fan holds nothing afterwards, and the places are free in the quota', async () => {
  const sale = await invited(ROUNDS);
  const answers = await Promise.all(
    sale.invitations.flatMap((invitation, index) => [
      guestsOf(index).claim(invitation, randomUUID()),
      guestsOf(index + 1).withdraw(invitation),
    ]),
  );
  report('claims and withdrawals', { answers: tally(answers) });
  expect(ofStatus(answers, 204)).toBe(ROUNDS);
  expect(ofStatus(answers, 201) + ofStatus(answers, 410)).toBe(ROUNDS);
  expect([await livingHolds(sale), await placesOf(sale.quotaId)]).toEqual([
    0,
    { total: ROUNDS * 2, free: ROUNDS * 2, invited: 0, held: 0, sold: 0 },
  ]);
  await expectNoFault(sale);
}, 60_000);

test('a payment and a withdrawal at once: either the order is completed and the withdrawal refused, or the money goes back', async () => {
  const sale = await invited(ROUNDS);
  const outcomes = await Promise.all(
    sale.invitations.map(async (invitation, index) => {
      const office = guestsOf(index).office;
      const ordered = await office.ordered(await guestsOf(index).claimed(invitation, randomUUID()));
      const [settled, { status }] = await Promise.all([
        office.settle(office.report(ordered)),
        guestsOf(index + 1).withdraw(invitation),
      ]);
      return `${settled} ${status}`;
    }),
  );
  const sold = outcomes.filter((outcome) => outcome === 'completed 409').length;
  report('payments and withdrawals', { outcomes });
  expect(outcomes.filter((outcome) => outcome !== 'completed 409' && outcome !== 'refunded 204')).toEqual([]);
  expect(await placesOf(sale.quotaId)).toMatchObject({ free: (ROUNDS - sold) * 2, sold: sold * 2, invited: 0, held: 0 });
  await expectNoFault(sale);
}, 60_000);

/**
 * Runs `work` for the first invitation, and then for the others, spread evenly over the time around the end of the invitations.
 * Meanwhile both processes run `task`.
 */
async function aroundTheEnd<T>(
  { invitations, quotaId }: Invited,
  work: (invitation: Issued, index: number) => Promise<T>,
  task: (guests: InvitationCalls) => Promise<unknown>,
  alsoEnds?: () => Promise<unknown>,
): Promise<T[]> {
  const [first, ...others] = invitations;
  const before = first ? [await work(first, 0)] : [];
  await Promise.all([endsSoon(quotaId), alsoEnds?.()]);
  let isOver = false;
  const tasks = guests.map(async (calls) => {
    while (!isOver) {
      await task(calls);
      await pause(20);
    }
  });
  const results = await Promise.all(
    others.map(async (invitation, index) => {
      await pause((2 * SOON_MS * index) / others.length);
      return work(invitation, index);
    }),
  );
  isOver = true;
  await Promise.all(tasks);
  return [...before, ...results];
}

test('claims and the expiry at once: each fan has the places or is told that the invitation is over', async () => {
  const sale = await invited(ROUNDS * 3);
  const answers = await aroundTheEnd(
    sale,
    (invitation, index) => guestsOf(index).claim(invitation, randomUUID()),
    ({ office }) => office.monolith.get(EndInvitations).expireDue(),
  );
  const held = ofStatus(answers, 201);
  report('claims around the end', { answers: tally(answers) });
  expect([held > 0, held + ofStatus(answers, 410)]).toEqual([true, ROUNDS * 3]);
  expect(await placesOf(sale.quotaId)).toMatchObject({ free: (ROUNDS * 3 - held) * 2, invited: 0, held: held * 2 });
  expect(await livingHolds(sale)).toBe(held);
  await expectNoFault(sale);
}, 60_000);

test('claims, their free checkouts, the expiry and the return at once: what is bought stays, everything else returns', async () => {
  const sale = await invited(ROUNDS * 3, { price_cents: 0 });
  const outcomes = await aroundTheEnd(
    sale,
    async (invitation, index) => {
      const userId = randomUUID();
      const claim = await guestsOf(index).claim(invitation, userId);
      if (claim.status !== 201) return claim;
      return guestsOf(index).office.checkOut({ ...claim.json, userId, seatIds: invitation.seatIds });
    },
    (calls) => calls.runTask(),
    () => operators.setReturnDue([sale.quotaId], -SOON_MS / 1000),
  );
  await guests[0].runTask();
  report('claims around the return', { answers: tally(outcomes) });
  const sold = ofStatus(outcomes, 201) * 2;
  expect([sold > 0, outcomes.filter(({ status }) => ![201, 409, 410].includes(status))]).toEqual([true, []]);
  expect(await placesOf(sale.quotaId)).toEqual({ total: sold, free: 0, invited: 0, held: 0, sold });
  expect(await replicas.offices[0].seatRows(sale.match)).toEqual({ available: 200 - sold, sold });
  await expectNoFault(sale);
}, 60_000);

test('claims and the cancellation of the match at once: afterwards nobody holds a place, and no invitation is open', async () => {
  const sale = await invited(ROUNDS);
  const cancelled = replicas.offices[0].monolith.call('POST', `/api/v1/ops/matches/${sale.match.id}/cancel`, {
    ...ops,
    body: { reason: 'storm' },
  });
  const answers = await Promise.all([
    ...sale.invitations.map((invitation, index) => guestsOf(index).claim(invitation, randomUUID())),
    ...sale.invitations.map(async (invitation, index) => {
      await cancelled;
      return guestsOf(index).claim(invitation, randomUUID());
    }),
  ]);
  const ends = replicas.offices.map(({ monolith }) => monolith.get(EndInvitations).withdrawCancelled());
  const ended = (await Promise.all(ends)).reduce((sum, n) => sum + n, 0);
  report('claims and cancellation', { answers: tally(answers), ended });
  expect([(await cancelled).status, ended, await livingHolds(sale)]).toEqual([200, ROUNDS, 0]);
  expect(await placesOf(sale.quotaId)).toMatchObject({ free: ROUNDS * 2, invited: 0, held: 0 });
  await expectNoFault(sale);
}, 60_000);

describe('negative control: without locks', () => {
  test('two fans get a reservation of the same invitation each, and verify reports it', async () => {
    const sale = await invited(1);
    const [{ token } = { token: '' }] = sale.invitations;
    const { claim } = unguardedClaims(replicas.offices[0].monolith);
    await Promise.all([claim.execute({ token, userId: randomUUID() }), claim.execute({ token, userId: randomUUID() })]);
    expect(await livingHolds(sale)).toBe(2);
    expect(await seatsClaimedTwice(replicas.dataSource, sale.match.id)).toHaveLength(2);
    expect((await faultsOf(replicas.dataSource, sale.match.id)).map(({ name }) => name)).toContain('one-claim');
  });

  test('claimed places return to the public, and verify reports it', async () => {
    const sale = await invited(1);
    const [{ token } = { token: '' }] = sale.invitations;
    const { claim, end } = unguardedClaims(replicas.offices[0].monolith);
    const claimed = claim.execute({ token, userId: randomUUID() });
    await pause(20);
    await Promise.all([endsSoon(sale.quotaId, 0), operators.setReturnDue([sale.quotaId])]);
    await end.expireDue();
    await replicas.offices[1].monolith.get(ReturnPlaces).returnDue();
    await claimed;
    expect(await livingHolds(sale)).toBe(1);
    expect((await faultsOf(replicas.dataSource, sale.match.id)).length).toBeGreaterThan(0);
  });
});
