import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { openBoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { InvitationCalls } from '../testing/invitation-calls.ts';
import { hoursFromNow, QuotaCalls } from '../testing/quota-calls.ts';

const KICKOFF_IN_HOURS = 100;
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
  match = await putOnSale(opened.office.monolith, {
    kickoff_at: hoursFromNow(KICKOFF_IN_HOURS),
    sectors: [seated('East A', 10, 20)],
  });
});
afterAll(() => opened.close());

const moveTo = async (kickoff_at: string): Promise<void> => {
  const { monolith } = opened.office;
  const answer = await monolith.call('PATCH', `/api/v1/ops/matches/${match.id}`, { ...ops, body: { kickoff_at } });
  expect(answer).toMatchObject({ status: 200, json: { kickoff_at } });
};
const deadlines = async (quotaId: string): Promise<unknown[]> => {
  const { opens_at, claim_until, return_at } = await calls.quota(quotaId);
  return [opens_at, claim_until, return_at];
};
/** When the invitations of the quota end, oldest first. */
const ends = async (quotaId: string): Promise<string[]> =>
  (await calls.invitations(quotaId)).map(({ expires_at }) => expires_at as string);
const expectNoFault = async (): Promise<void> =>
  expect((await verifyDatabase(opened.office.monolith.dataSource, { matchId: match.id })).ok).toBe(true);

test('an earlier kick-off cuts the deadlines after it and the ends of open invitations; what ends before it stays', async () => {
  const [opens_at, early, late] = [hoursFromNow(40), hoursFromNow(20), hoursFromNow(90)];
  const times = [{ opens_at, claim_until: late, return_at: late }, { claim_until: early, return_at: late }, {}];
  const quotas: string[] = [];
  for (const [index, fields] of times.entries()) {
    const quotaId = await calls.created(match, { name: `Quota ${index}`, ...fields });
    await guests.issue(quotaId);
    const expires_at = index === 0 ? hoursFromNow(60) : early;
    await guests.issue(quotaId, { email: 'other@example.hr' }, { expires_at });
    quotas.push(quotaId);
  }
  const kickoff = hoursFromNow(30);
  const justBefore = new Date(Date.parse(kickoff) - 1000).toISOString();
  await moveTo(kickoff);
  expect(await Promise.all(quotas.map(deadlines))).toEqual([
    [justBefore, kickoff, kickoff],
    [null, early, kickoff],
    [null, null, null],
  ]);
  expect(await Promise.all(quotas.map(ends))).toEqual([
    [kickoff, kickoff],
    [early, early],
    [kickoff, early],
  ]);
  await expectNoFault();
});

test('a later kick-off moves only the end of invitations that end at kick-off', async () => {
  const claim_until = hoursFromNow(50);
  const [open, limited] = [await calls.created(match), await calls.created(match, { name: 'Sponsors', claim_until })];
  await guests.issue(open);
  await guests.issue(open, { email: 'other@example.hr' }, { expires_at: claim_until });
  await guests.issue(limited);
  const kickoff = hoursFromNow(KICKOFF_IN_HOURS * 2);
  await moveTo(kickoff);
  expect([await ends(open), await ends(limited), await deadlines(limited)]).toEqual([
    [kickoff, claim_until],
    [claim_until],
    [null, claim_until, null],
  ]);
  await expectNoFault();
});

test('a kick-off that is moved into the past ends the invitations and returns the places of quotas with a return', async () => {
  const quotaId = await calls.created(match, { return_at: hoursFromNow(50) });
  const invitation = await guests.issue(quotaId);
  await moveTo(hoursFromNow(-1));
  await guests.runTask();
  expect([await guests.stored(invitation), (await calls.quota(quotaId)).status]).toEqual(['expired', 'returned']);
  await expectNoFault();
});

test('withdrawn invitations and returned quotas keep their times', async () => {
  const quotaId = await calls.created(match, { return_at: hoursFromNow(90) });
  await guests.withdraw(await guests.issue(quotaId));
  await calls.setReturnDue([quotaId]);
  await guests.runTask();
  const before = [await deadlines(quotaId), await ends(quotaId)];
  await moveTo(hoursFromNow(30));
  expect([await deadlines(quotaId), await ends(quotaId)]).toEqual(before);
});

test('lists that are issued while the kick-off is moved invite nobody beyond it', async () => {
  const quotaId = await calls.created(match, { places: [{ quantity: 40 }] });
  const kickoff = hoursFromNow(30);
  const issued = Array.from({ length: 8 }, (_, list) =>
    calls.invite(
      quotaId,
      Array.from({ length: 5 }, (_unused, n) => ({ email: `guest-${list}-${n}@example.hr`, quantity: 1 })),
    ),
  );
  await moveTo(kickoff);
  expect((await Promise.all(issued)).map(({ status }) => status)).toEqual(issued.map(() => 200));
  expect(await ends(quotaId)).toEqual(Array.from({ length: 40 }, () => kickoff));
}, 60_000);
