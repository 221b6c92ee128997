import { openBoxOffice, type HeldSeats, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { QuotaOffice } from '../../purchase/testing/quota-office.ts';
import { newKey, type TestAnswer } from '../../testing/test-app.ts';
import { ops, putOnSale, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { hashOfToken } from '../messages/invitation-token.ts';
import { QuotaCalls } from '../testing/quota-calls.ts';

let opened: OpenBoxOffice;
let calls: QuotaCalls;
let match: MatchOnSale;
let quota: string;

beforeAll(async () => {
  opened = await openBoxOffice();
  calls = new QuotaCalls(opened.office);
  match = await putOnSale(opened.office.monolith);
  quota = await calls.created(match, { places: [{ quantity: 40 }] });
});
afterAll(() => opened.close());

const resend = (id: string, key = newKey()): Promise<TestAnswer> =>
  opened.office.monolith.call('POST', `/api/v1/invitations/${id}/resend`, { ...ops, key });

/** Invites one person with an address of its own; returns the id of the invitation. */
const invited = async (): Promise<{ id: string; email: string }> => {
  const email = `${newKey()}@example.hr`;
  return { id: (await calls.invite(quota, [{ email, quantity: 2 }])).json.items[0].id, email };
};
/** The tokens in the mails to an address, oldest first. */
const mailedTokens = async (email: string): Promise<string[]> => {
  const rows = await opened.office.rows<{ url: string }>(
    `select body->'payload'->>'claim_url' as url from outbox where body->>'recipient' = $1 order by seq`,
    [email],
  );
  return rows.map(({ url }) => url.split('#')[1] ?? '');
};
/** The hashes of the tokens that open an invitation. */
const workingHashes = async (id: string): Promise<string[]> =>
  (
    await opened.office.rows<{ hash: string }>(
      `select encode(token_hash, 'hex') as hash from invitation_tokens where invitation_id = $1`,
      [id],
    )
  ).map(({ hash }) => hash);
const stored = (token: string | undefined): string => hashOfToken(token ?? '').toString('hex');

/** Claims the invitation as its fan would: holds its places and stores the reservation. */
const claimed = async (id: string): Promise<HeldSeats> => {
  const [row] = await opened.office.rows<{ sectorId: string; seatIds: string[] }>(
    `select sector_id as "sectorId", seat_ids as "seatIds" from invitations where id = $1`,
    [id],
  );
  const held = await new QuotaOffice(opened.office).claimed({ id, matchId: match.id, quotaId: quota, ...row! });
  await opened.office.rows(`update invitations set reservation_id = $2, claimed_at = now() where id = $1`, [id, held.id]);
  return held;
};
const statusOf = async (id: string): Promise<string> =>
  (await calls.invitations(quota)).find((invitation: { id: string }) => invitation.id === id).status;

test('a token is in its mail only: the database has its hash', async () => {
  const { id, email } = await invited();
  const [token] = await mailedTokens(email);
  expect(await workingHashes(id)).toEqual([stored(token)]);
});

test('a new mail has a new token, and the old tokens stop working', async () => {
  const { id, email } = await invited();
  await opened.office.rows(`insert into invitation_tokens values (decode($1, 'hex'), $2)`, [stored('of the reminder'), id]);
  const answer = await resend(id);
  const [first, second, ...more] = await mailedTokens(email);
  expect([answer.status, answer.json, more]).toEqual([
    200,
    (await calls.invitations(quota)).find((invitation: { id: string }) => invitation.id === id),
    [],
  ]);
  expect(second).not.toBe(first);
  expect(await workingHashes(id)).toEqual([stored(second)]);
});

test('the same idempotency key sends one mail', async () => {
  const { id, email } = await invited();
  const key = newKey();
  const [first, again] = [await resend(id, key), await resend(id, key)];
  expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true']);
  expect(await mailedTokens(email)).toHaveLength(2);
});

test('eight times at once: the token of the last mail works, and only that', async () => {
  const { id, email } = await invited();
  const answers = await Promise.all(Array.from({ length: 8 }, () => resend(id)));
  const sent = answers.filter(({ status }) => status === 200).length;
  expect(answers.filter(({ status }) => ![200, 503].includes(status))).toEqual([]);
  const tokens = await mailedTokens(email);
  expect([tokens.length, sent > 0]).toEqual([sent + 1, true]);
  expect(await workingHashes(id)).toEqual([stored(tokens.at(-1))]);
});

test('a claimed invitation is `held` and can be sent again until it is paid; then it is `claimed`', async () => {
  const { id, email } = await invited();
  const held = await claimed(id);
  expect(await statusOf(id)).toBe('held');
  expect((await resend(id)).json.status).toBe('held');
  await opened.office.settle(opened.office.report(await opened.office.ordered(held)));
  expect(await statusOf(id)).toBe('claimed');
  expect((await resend(id)).json).toMatchObject({ status: 409, code: 'INVALID_STATE', detail: 'This invitation is claimed.' });
  expect(await mailedTokens(email)).toHaveLength(2);
});

test('an invitation whose hold has ended unpaid is open and can be sent again', async () => {
  const { id } = await invited();
  await opened.office.lapse(await claimed(id));
  expect([await statusOf(id), (await resend(id)).json.status]).toEqual(['open', 'open']);
});

test.each<[what: string, statement: string]>([
  ['was withdrawn', `update invitations set status = 'withdrawn', ended_at = now() where id = $1`],
  ['has expired', `update invitations set status = 'expired', ended_at = now() where id = $1`],
  ['was paid and has ended', `update invitations set status = 'claimed', ended_at = now() where id = $1`],
  [
    'ended a second ago, and no task has ended it yet',
    `update invitations set expires_at = now() - interval '1 second' where id = $1`,
  ],
  [
    'is to a cancelled match',
    `update matches set cancelled_at = now(), sale_status = 'closed' where id = (select match_id from invitations where id = $1)`,
  ],
])('an invitation that %s is not sent again, and its token stays', async (_what, statement) => {
  const { id, email } = await invited();
  await opened.office.rows(statement, [id]);
  expect((await resend(id)).json).toMatchObject({ status: 409, code: 'INVALID_STATE' });
  const tokens = await mailedTokens(email);
  expect([tokens.length, await workingHashes(id)]).toEqual([1, [stored(tokens[0])]]);
});

test('an invitation that does not exist is 404', async () => {
  expect((await resend('0190a000-0000-7000-8000-000000000001')).json.code).toBe('NOT_FOUND');
});
