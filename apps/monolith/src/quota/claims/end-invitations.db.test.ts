import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { InvitationCalls, type Issued } from '../testing/invitation-calls.ts';
import { hoursFromNow, partner, QuotaCalls } from '../testing/quota-calls.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;
let calls: QuotaCalls;
let guests: InvitationCalls;
let match: MatchOnSale;
let ana: string;
let iva: string;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  calls = new QuotaCalls(office);
  guests = new InvitationCalls(office);
});
afterAll(() => opened.close());
beforeEach(async () => {
  [ana, iva] = [randomUUID(), randomUUID()];
  match = await putOnSale(office.monolith, { sectors: [seated('East A')] });
});
afterEach(async () => {
  const { invariants } = await verifyDatabase(office.monolith.dataSource, { matchId: match.id });
  expect(invariants.filter(({ broken }) => broken > 0)).toEqual([]);
});

/** A quota of 10 places, and an invitation to two of them. */
async function invited(fields: object = {}, ...options: [row?: object, settings?: Record<string, unknown>]) {
  const places = [{ sector_id: match.sectors[0]?.id, quantity: 10 }];
  const quotaId = await calls.created(match, { places, ...fields });
  return { quotaId, invitation: await guests.issue(quotaId, ...options) };
}
/** Free, invited, held and sold places of the quota. */
const places = async (quotaId: string): Promise<number[]> => {
  const { free, invited: bound, held, sold } = (await calls.quota(quotaId)).places;
  return [free, bound, held, sold];
};
const shown = async (invitation: Issued): Promise<string> => (await guests.lookUp(invitation)).json.status;
const cancelMatch = () =>
  office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/cancel`, { ...ops, body: { reason: 'storm' } });

describe('a withdrawal', () => {
  test('frees the places; repeated it is 204; a claim is INVITATION_EXPIRED', async () => {
    const { quotaId, invitation } = await invited();
    expect(await places(quotaId)).toEqual([8, 2, 0, 0]);
    const [first, again] = [await guests.withdraw(invitation), await guests.withdraw(invitation)];
    expect([first.status, first.text, again.status]).toEqual([204, '', 204]);
    expect([await shown(invitation), await places(quotaId)]).toEqual(['withdrawn', [10, 0, 0, 0]]);
    const { status, json } = await guests.claim(invitation, ana);
    expect([status, json.code, json.invitation_status]).toEqual([410, 'INVITATION_EXPIRED', 'withdrawn']);
  });

  test('ends a claim under way: its checkout is RESERVATION_EXPIRED', async () => {
    const { quotaId, invitation } = await invited();
    const held = await guests.claimed(invitation, ana);
    expect((await guests.withdraw(invitation)).status).toBe(204);
    expect([(await office.checkOut(held)).json.code, await places(quotaId)]).toEqual(['RESERVATION_EXPIRED', [10, 0, 0, 0]]);
    expect((await guests.claim(invitation, ana)).json.code).toBe('INVITATION_EXPIRED');
  });

  test('ends a claim that awaits its payment: a payment all the same is refunded in full', async () => {
    const { quotaId, invitation } = await invited();
    const ordered = await office.ordered(await guests.claimed(invitation, ana));
    expect((await guests.withdraw(invitation)).status).toBe(204);
    expect(await office.settle(office.report(ordered))).toBe('refunded');
    expect(await places(quotaId)).toEqual([10, 0, 0, 0]);
  });

  test('of a paid invitation is INVALID_STATE', async () => {
    const { quotaId, invitation } = await invited();
    await office.settle(office.report(await office.ordered(await guests.claimed(invitation, ana))));
    const { status, json } = await guests.withdraw(invitation);
    expect([status, json.code, await shown(invitation), await places(quotaId)]).toEqual([
      409,
      'INVALID_STATE',
      'claimed',
      [8, 0, 0, 2],
    ]);
  });

  test('belongs to the partners of the quota and its ancestors, and to operators; for others it is 404', async () => {
    const [club, section, other] = [randomUUID(), randomUUID(), randomUUID()];
    const { quotaId } = await invited({ kind: 'club', members: [club] });
    const child = await calls.created(match, { kind: 'club', parent_id: quotaId, members: [section] });
    const byClub = await guests.issue(child, { quantity: 1 });
    const bySection = await guests.issue(child, { quantity: 1 });
    for (const caller of [partner(other), partner(section)]) {
      const { invitation } = await invited({ members: [club] });
      expect((await guests.withdraw(invitation, caller)).json.code).toBe('NOT_FOUND');
      expect(await shown(invitation)).toBe('open');
    }
    expect((await guests.withdraw(byClub, partner(club))).status).toBe(204);
    expect((await guests.withdraw(bySection, partner(section))).status).toBe(204);
    expect((await guests.withdraw({ id: randomUUID() })).json.code).toBe('NOT_FOUND');
    expect((await guests.withdraw(byClub, { as: ana, headers: { 'x-mock-roles': '' } })).status).toBe(403);
  });
});

describe('the expiry', () => {
  test('frees the places, once; a claim is INVITATION_EXPIRED before and after the task', async () => {
    const { quotaId, invitation } = await invited();
    expect(await guests.runTask()).toBe(0);
    await guests.setOver(invitation);
    const claim = async () => {
      const { status, json } = await guests.claim(invitation, ana);
      return [status, json.code, json.invitation_status, await shown(invitation)];
    };
    expect(await claim()).toEqual([410, 'INVITATION_EXPIRED', 'expired', 'expired']);
    expect([(await calls.invitations(quotaId))[0].status, await guests.stored(invitation)]).toEqual(['expired', 'open']);
    expect([await guests.runTask(), await guests.runTask()]).toEqual([1, 0]);
    expect(await claim()).toEqual([410, 'INVITATION_EXPIRED', 'expired', 'expired']);
    expect([await places(quotaId), (await guests.withdraw(invitation)).status]).toEqual([[10, 0, 0, 0], 204]);
    expect(await shown(invitation)).toBe('expired');
  });

  test('waits for a hold: it can be checked out and paid, and the places stay sold', async () => {
    const { quotaId, invitation } = await invited();
    const held = await guests.claimed(invitation, ana);
    await guests.setOver(invitation);
    expect([await guests.runTask(), await guests.claim(invitation, ana).then(({ status }) => status)]).toEqual([0, 200]);
    expect((await calls.invitations(quotaId))[0].status).toBe('held');
    expect((await guests.claim(invitation, iva)).json.code).toBe('INVITATION_CLAIMED');
    const ordered = await office.ordered(held);
    expect(await guests.runTask()).toBe(0);
    expect(await office.settle(office.report(ordered))).toBe('completed');
    expect([await guests.runTask(), await guests.stored(invitation), await places(quotaId)]).toEqual([
      1,
      'claimed',
      [8, 0, 0, 2],
    ]);
    expect((await guests.claim(invitation, ana)).json).toMatchObject({ id: held.id, status: 'completed' });
    expect((await guests.claim(invitation, iva)).json.code).toBe('INVITATION_CLAIMED');
  });

  test('does not cut off a checkout: a hold that was made in the last minute lives longer, until claim_until or kick-off', async () => {
    const expiresAt = hoursFromNow(1 / 60);
    const claim_until = hoursFromNow(1 / 10);
    const { quotaId, invitation } = await invited({ claim_until }, {}, { expires_at: expiresAt });
    expect((await guests.claimed(invitation, ana)).expires_at).toBe(claim_until);
    await calls.change(quotaId, { claim_until: null });
    const other = await guests.issue(quotaId, {}, { expires_at: expiresAt });
    const { expires_at } = await guests.claimed(other, ana);
    expect(new Date(expires_at).getTime() - Date.now()).toBeGreaterThan(500_000);
  });

  test('comes when the hold has ended unpaid; a later payment is refunded in full', async () => {
    const { quotaId, invitation } = await invited();
    const ordered = await office.ordered(await guests.claimed(invitation, ana));
    await guests.setOver(invitation);
    await office.lapse(ordered.held);
    expect([await guests.runTask(), await places(quotaId)]).toEqual([1, [10, 0, 0, 0]]);
    expect(await office.settle(office.report(ordered))).toBe('refunded');
    expect(await places(quotaId)).toEqual([10, 0, 0, 0]);
  });

  test('keeps places that an earlier claim has paid late, after a second claim ended unpaid', async () => {
    const { quotaId, invitation } = await invited();
    const ordered = await office.ordered(await guests.claimed(invitation, ana));
    await office.lapse(ordered.held);
    await office.lapse(await guests.claimed(invitation, iva));
    expect(await office.settle(office.report(ordered))).toBe('completed');
    expect([await shown(invitation), (await guests.withdraw(invitation)).json.code]).toEqual(['claimed', 'INVALID_STATE']);
    await guests.setOver(invitation);
    expect([await guests.runTask(), await guests.stored(invitation), await places(quotaId)]).toEqual([
      1,
      'claimed',
      [8, 0, 0, 2],
    ]);
  });

  test('of 60 invitations while fans hold 110 others that are over, more than a page: one run ends all that nobody holds', async () => {
    match = await putOnSale(office.monolith, { sectors: [seated('East A', 20, 20)] });
    const quotaId = await calls.created(match, { places: [{ sector_id: match.sectors[0]?.id, quantity: 170 }] });
    const issued: Issued[] = [];
    for (let n = 0; n < 170; n += 1) issued.push(await guests.issue(quotaId, { quantity: 1 }));
    for (const invitation of issued.slice(0, 110)) await guests.claimed(invitation, ana);
    await office.rows(`update invitations set expires_at = now() - interval '1 second' where quota_id = $1`, [quotaId]);
    await office.rows(
      `update invitations set expires_at = now() - interval '2 seconds' where quota_id = $1 and reservation_id is not null`,
      [quotaId],
    );
    expect([await guests.runTask(), await places(quotaId)]).toEqual([60, [60, 0, 110, 0]]);
  }, 60_000);
});

describe('with the deadlines of the quota', () => {
  test('places of invitations that end at return_at return with the free ones by one move', async () => {
    const { quotaId, invitation } = await invited({ return_at: hoursFromNow(1) });
    await calls.setReturnDue([quotaId]);
    await guests.setOver(invitation);
    await guests.runTask();
    expect((await calls.ledger(match, { [quotaId]: 'quota' })).slice(1)).toEqual(['return 10: quota → public']);
    expect(await guests.stored(invitation)).toBe('expired');
  });

  test('places that a fan holds follow when the hold has ended; paid ones stay', async () => {
    const { quotaId, invitation } = await invited({ return_at: hoursFromNow(1) });
    const other = await guests.issue(quotaId, { quantity: 3 });
    const [held, paid] = [await guests.claimed(invitation, ana), await guests.claimed(other, iva)];
    await office.settle(office.report(await office.ordered(paid)));
    for (const one of [invitation, other]) await guests.setOver(one);
    await calls.setReturnDue([quotaId]);
    await guests.runTask();
    await office.release(held);
    await guests.runTask();
    expect((await calls.ledger(match, { [quotaId]: 'quota' })).slice(1)).toEqual([
      'return 5: quota → public',
      'return 2: quota → public',
    ]);
    expect([await places(quotaId), await guests.stored(other)]).toEqual([[0, 0, 0, 3], 'claimed']);
  });

  test('open invitations end with a new claim_until, and never after the end that was given for them', async () => {
    const { quotaId, invitation } = await invited({ claim_until: hoursFromNow(10) });
    const earlier = await guests.issue(quotaId, {}, { expires_at: hoursFromNow(3) });
    const given = hoursFromNow(11);
    const cut = await guests.issue(quotaId, {}, { expires_at: given });
    const endOf = async (one: Issued): Promise<string> => (await guests.lookUp(one)).json.claim_until;
    const endsAfter = async (claim_until: string | null) => {
      expect((await calls.change(quotaId, { claim_until })).status).toBe(200);
      return [await endOf(invitation), await endOf(earlier), await endOf(cut)];
    };
    const own = await endOf(earlier);
    const [later, sooner] = [hoursFromNow(12), hoursFromNow(2)];
    expect(await endsAfter(later)).toEqual([later, own, given]);
    expect(await endsAfter(sooner)).toEqual([sooner, sooner, sooner]);
    const kickoff = (await guests.lookUp(invitation)).json.match.kickoff_at;
    expect(await endsAfter(null)).toEqual([kickoff, own, given]);
  });
});

describe('a cancelled match', () => {
  test('withdraws its invitations: a claim under way loses its hold, and paid tickets are refunded by the cancellation', async () => {
    const { quotaId, invitation } = await invited();
    const [claimed, ordered, bought] = [await guests.issue(quotaId), await guests.issue(quotaId), await guests.issue(quotaId)];
    const held = await guests.claimed(claimed, ana);
    const order = await office.ordered(await guests.claimed(ordered, ana));
    await office.settle(office.report(await office.ordered(await guests.claimed(bought, iva))));
    expect((await cancelMatch()).status).toBe(200);
    expect([await guests.runTask(), await guests.runTask()]).toEqual([4, 0]);
    expect(await Promise.all([invitation, claimed, ordered, bought].map((one) => guests.stored(one)))).toEqual([
      'withdrawn',
      'withdrawn',
      'withdrawn',
      'claimed',
    ]);
    expect([await office.reservation(held), await office.reservation(order.held)]).toEqual(['expired', 'expired']);
    expect(await office.settle(office.report(order))).toBe('refunded');
    expect([await places(quotaId), (await guests.claim(invitation, ana)).json.code]).toEqual([[8, 0, 0, 2], 'SALE_NOT_OPEN']);
  });

  test('other matches keep their invitations', async () => {
    const { invitation } = await invited();
    match = await putOnSale(office.monolith, { sectors: [seated('East A')] });
    await invited();
    await cancelMatch();
    expect([await guests.runTask(), await shown(invitation)]).toEqual([1, 'open']);
  });
});
