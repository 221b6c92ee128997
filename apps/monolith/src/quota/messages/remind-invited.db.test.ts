import { TransactionManager } from '#application/transaction-manager';
import { emailJob } from '#contracts/queue-jobs';
import { randomUUID } from 'node:crypto';
import { CatalogApi } from '../../catalog/catalog.api.ts';
import { openBoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import { killedAtEachStep } from '../../testing/dying-transactions.ts';
import { openMonolith, ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { PostgresInvitations } from '../invitations/postgres-invitations.ts';
import { InvitationCalls, tokenIn } from '../testing/invitation-calls.ts';
import { hoursFromNow, QuotaCalls } from '../testing/quota-calls.ts';
import { InvitationMessages } from './invitation-messages.ts';
import { PostgresReminders } from './postgres-reminders.ts';
import { RemindInvited } from './remind-invited.ts';

const ANA = { email: 'ana@example.hr', name: 'Ana Horvat' };
let opened: OpenBoxOffice;
let calls: QuotaCalls;
let guests: InvitationCalls;
let match: MatchOnSale;
let quotaId: string;

beforeAll(async () => {
  opened = await openBoxOffice();
  calls = new QuotaCalls(opened.office);
  guests = new InvitationCalls(opened.office);
});
beforeEach(async () => {
  await opened.office.rows('truncate outbox, devices, fans, matches cascade');
  match = await onSale();
  quotaId = await calls.created(match, { places: [{ sector_id: match.sectors[0]?.id, quantity: 20 }] });
});
afterAll(() => opened.close());

const onSale = (facts = {}): Promise<MatchOnSale> =>
  putOnSale(opened.office.monolith, { kickoff_at: hoursFromNow(240), sectors: [seated('East A', 100, 10)], ...facts });
const remind = (): Promise<number> => opened.office.monolith.get(RemindInvited).execute();
const isReminded = async (id: string): Promise<boolean> => {
  const [row] = await opened.office.rows<{ at: Date | null }>(`select reminded_at as at from invitations where id = $1`, [id]);
  return row?.at !== null;
};

test('an open invitation that ends within 24 hours gets one reminder, with a second link; the first one goes on working', async () => {
  const userId = randomUUID();
  await opened.office.rows(`insert into devices (user_id, device_id, fcm_token) values ($1, 'phone', 'phone')`, [userId]);
  const invited = await guests.issuedBefore(quotaId, { ...ANA, user_id: userId, locale: 'en' });
  expect([await remind(), await remind()]).toEqual([1, 0]);
  const [mail, push, ...others] = await guests.messages(match);
  expect(others).toEqual([]);
  expect(emailJob.parse(mail?.body)).toMatchObject({
    template: 'quota_invitation',
    recipient: 'ana@example.hr',
    about: { invitation_id: invited.id },
    payload: { reminder: true, locale: 'en', invited_name: 'Ana Horvat', tickets_count: 2, total_amount: '50.00 EUR' },
  });
  expect(push?.body).toMatchObject({ template: 'quota_invitation', payload: { title: 'Još niste preuzeli ulaznice' } });
  // Without PUBLIC_URL the link leads to this machine.
  expect(mail?.body.payload.claim_url).toMatch(/^http:\/\/127\.0\.0\.1:3000\/invitation#inv_/);
  const token = tokenIn(mail!);
  expect(token).toMatch(/^inv_[\w-]{43}$/);
  expect(token).not.toBe(invited.token);
  expect([await guests.ownerOf(token), await guests.ownerOf(invited.token)]).toEqual([invited.id, invited.id]);
});

test('the price in a reminder is that of the quota: 0 of the quota is free of charge', async () => {
  await calls.change(quotaId, { price_cents: { [match.sectors[0]!.id]: 0 } });
  await guests.issuedBefore(quotaId);
  await remind();
  expect((await guests.messages(match)).map(({ body }) => body.payload.total_amount)).toEqual(['0.00 EUR']);
});

test.each([
  ['ends in more than 24 hours', { endsInHours: 25, issuedHoursAgo: 72 }],
  ['has ended', { endsInHours: -0.01, issuedHoursAgo: 72 }],
  ['was issued 23 hours before its end', { endsInHours: 20, issuedHoursAgo: 3 }],
])('an invitation that %s gets no reminder', async (_, times) => {
  const invited = await guests.issuedBefore(quotaId, times);
  expect(await remind()).toBe(0);
  expect(await isReminded(invited.id)).toBe(false);
});

test.each(['claimed', 'expired', 'withdrawn'])('an invitation with the status %s gets no reminder', async (status) => {
  const invited = await guests.issuedBefore(quotaId);
  await opened.office.rows(`update invitations set status = $2 where id = $1`, [invited.id, status]);
  expect(await remind()).toBe(0);
});

test('an invitation whose places are held gets its reminder when the hold has ended unpaid, and none once it is paid', async () => {
  const [held, paid] = [await guests.issuedBefore(quotaId), await guests.issuedBefore(quotaId)];
  const [hold, paidHold] = [await guests.claimed(held, randomUUID()), await guests.claimed(paid, randomUUID())];
  await opened.office.rows(`update reservations set status = 'completed' where id = $1`, [paidHold.id]);
  expect(await remind()).toBe(0);
  await opened.office.lapse(hold);
  expect(await remind()).toBe(1);
  expect([await isReminded(held.id), await isReminded(paid.id)]).toEqual([true, false]);
});

test('an invitation gets no reminder before its quota opens, and none while the sale is closed', async () => {
  await guests.issuedBefore(quotaId);
  await opened.office.rows(`update quotas set opens_at = now() + interval '1 hour' where id = $1`, [quotaId]);
  expect(await remind()).toBe(0);
  await opened.office.rows(`update quotas set opens_at = now() - interval '1 hour' where id = $1`, [quotaId]);
  const sale = (action: string) =>
    opened.office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/sale`, { ...ops, body: { action } });
  await sale('close');
  expect(await remind()).toBe(0);
  await sale('open');
  expect(await remind()).toBe(1);
});

test('invitations of a cancelled match get no reminder, also before they are withdrawn', async () => {
  await guests.issuedBefore(quotaId);
  const body = { reason: 'Snow' };
  await opened.office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/cancel`, { ...ops, body });
  expect(await remind()).toBe(0);
});

test('an invitation that is withdrawn or claimed while its reminder is planned is skipped', async () => {
  const [withdrawn, claimed, open] = [
    await guests.issuedBefore(quotaId),
    await guests.issuedBefore(quotaId),
    await guests.issuedBefore(quotaId),
  ];
  const office = opened.office.monolith;
  /** What another process does after this one has read the due reminders. */
  class MeanwhileChanged extends PostgresReminders {
    override async due(page: Parameters<PostgresReminders['due']>[0]): ReturnType<PostgresReminders['due']> {
      const due = await super.due(page);
      await opened.office.rows(`update invitations set status = 'withdrawn' where id = $1`, [withdrawn.id]);
      await guests.claimed(claimed, randomUUID());
      return due;
    }
  }
  const reminding = new RemindInvited(
    office.get(TransactionManager),
    office.get(CatalogApi),
    office.get(QuotaPlacesApi),
    new MeanwhileChanged(office.dataSource),
    office.get(PostgresInvitations),
    office.get(InvitationMessages),
  );
  expect(await reminding.execute()).toBe(1);
  expect((await guests.messages(match)).map(({ body }) => body.about.invitation_id)).toEqual([open.id]);
});

test('two replicas that plan at once remind of each of 250 invitations in two matches once', async () => {
  const other = await openMonolith(opened.settings);
  try {
    const matches = [match, await onSale()];
    for (const each of matches) {
      const id = await calls.created(each, { places: [{ sector_id: each.sectors[0]?.id, quantity: 125 }] });
      const list = Array.from({ length: 125 }, (_, n) => ({ email: `fan-${n}@example.hr`, quantity: 1 }));
      expect(await calls.invite(id, list)).toMatchObject({ status: 200 });
      await guests.setTimes(id, { endsInHours: 20, issuedHoursAgo: 72 });
    }
    await opened.office.rows('truncate outbox');
    const replicas = [opened.office.monolith, other, opened.office.monolith, other];
    const planned = await Promise.all(replicas.map((replica) => replica.get(RemindInvited).execute()));
    planned.push(await remind());
    expect(planned.reduce((sum, n) => sum + n, 0)).toBe(250);
    for (const each of matches) expect(await guests.messages(each)).toHaveLength(125);
    expect(await opened.office.rows(`select count(*)::int as n from invitation_tokens`)).toEqual([{ n: 500 }]);
  } finally {
    await other.close();
  }
}, 60_000);

test('a process that is killed at any step before the commit leaves no trace; the next run reminds once, with one new token', async () => {
  const invited = await guests.issuedBefore(quotaId);
  const office = opened.office.monolith;
  const traces = async () => ({
    mails: (await guests.messages(match)).length,
    tokens: (await opened.office.rows(`select from invitation_tokens where invitation_id = $1`, [invited.id])).length,
    isReminded: await isReminded(invited.id),
  });
  const atDeath: unknown[] = [];
  const deaths = await killedAtEachStep(
    office.get(TransactionManager),
    (transactions) =>
      new RemindInvited(
        transactions,
        office.get(CatalogApi),
        office.get(QuotaPlacesApi),
        office.get(PostgresReminders),
        office.get(PostgresInvitations),
        office.get(InvitationMessages),
      ).execute(),
    async () => void atDeath.push(await traces()),
  );
  const [none, done] = [
    { mails: 0, tokens: 1, isReminded: false },
    { mails: 1, tokens: 2, isReminded: true },
  ];
  // Before the match is read, the rows locked, the mark set, the token added, the mail written, the commit; and after the commit.
  expect([deaths, atDeath]).toEqual([7, [none, none, none, none, none, none, done]]);
  expect([await remind(), await traces()]).toEqual([0, done]);
});

test('negative control: an invitation whose mark is lost is reminded of twice', async () => {
  const invited = await guests.issuedBefore(quotaId);
  await remind();
  await opened.office.rows(`update invitations set reminded_at = null where id = $1`, [invited.id]);
  expect(await remind()).toBe(1);
  expect(await guests.messages(match)).toHaveLength(2);
});
