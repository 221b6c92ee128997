import { TcpProxy } from '#testing/tcp-proxy';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { openBoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { newKey, type TestAnswer } from '../../testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { InvitationCalls } from '../testing/invitation-calls.ts';
import { QuotaCalls } from '../testing/quota-calls.ts';

/** The longest time of a call while Redis does not answer. */
const MAX_MS = 8000;
let redis: TestRedis;
let proxy: TcpProxy;
let opened: OpenBoxOffice;
let calls: QuotaCalls;
let guests: InvitationCalls;
let match: MatchOnSale;
let quotaId: string;

beforeAll(async () => {
  redis = await createTestRedis();
  proxy = await TcpProxy.inFrontOf(redis.url);
  opened = await openBoxOffice({ REDIS_URL: proxy.url });
  calls = new QuotaCalls(opened.office);
  guests = new InvitationCalls(opened.office);
});
beforeEach(async () => {
  match = await putOnSale(opened.office.monolith, { sectors: [seated('East A', 10, 20)] });
  quotaId = await calls.created(match, { places: [{ quantity: 20 }] });
});
afterEach(() => proxy.restore());
afterAll(async () => {
  await opened.close();
  await proxy.close();
  await redis.close();
});

const places = async () => (await calls.quota(quotaId)).places;
const mails = async (): Promise<number> => (await guests.messages(match)).length;
async function quickly(call: () => Promise<TestAnswer>): Promise<TestAnswer> {
  const begunAt = performance.now();
  const answer = await call();
  expect(performance.now() - begunAt).toBeLessThan(MAX_MS);
  return answer;
}
const isReplayed = ({ headers }: TestAnswer): boolean => headers['idempotency-replayed'] === 'true';
const verified = async (): Promise<boolean> =>
  (await verifyDatabase(opened.office.monolith.dataSource, { matchId: match.id })).ok;

describe.each([
  ['is down', () => proxy.refuse()],
  ['is frozen', () => proxy.silence()],
])('while Redis %s', (_what, breakRedis) => {
  test('a list is issued once: the same key gets the same answer from its row', async () => {
    breakRedis();
    const key = newKey();
    const people = ['ana', 'iva'].map((name) => ({ email: `${name}@example.hr`, quantity: 2 }));
    const first = await quickly(() => calls.invite(quotaId, people, { key }));
    const second = await quickly(() => calls.invite(quotaId, people, { key }));
    expect([first.status, second.status, second.text, isReplayed(second)]).toEqual([200, 200, first.text, true]);
    expect((await calls.invite(quotaId, people.slice(1), { key })).json.code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect([await places(), await mails(), await verified()]).toEqual([
      { total: 20, free: 16, invited: 4, held: 0, sold: 0 },
      2,
      true,
    ]);
  });

  test('an invitation is claimed and bought, and another one is withdrawn', async () => {
    const [invitation, other] = [await guests.issue(quotaId), await guests.issue(quotaId)];
    breakRedis();
    const fan = randomUUID();
    const key = newKey();
    const claim = () =>
      opened.office.monolith.call('POST', '/api/v1/invitations/claim', { as: fan, body: { token: invitation.token }, key });
    const first = await quickly(claim);
    const second = await quickly(claim);
    expect([first.status, second.status, second.json.id, isReplayed(second)]).toEqual([201, 201, first.json.id, true]);
    expect((await quickly(() => guests.claim(invitation, randomUUID()))).json.code).toBe('INVITATION_CLAIMED');
    expect((await quickly(() => guests.withdraw(other))).status).toBe(204);
    const held = { ...first.json, userId: fan, seatIds: invitation.seatIds };
    expect((await quickly(() => opened.office.checkOut(held))).status).toBe(201);
    expect([await places(), await verified()]).toEqual([{ total: 20, free: 18, invited: 0, held: 2, sold: 0 }, true]);
  });

  test('a withdrawn claim loses its hold', async () => {
    const invitation = await guests.issue(quotaId);
    breakRedis();
    const held = await guests.claimed(invitation, randomUUID());
    expect((await quickly(() => guests.withdraw(invitation))).status).toBe(204);
    expect((await opened.office.checkOut(held)).json.code).toBe('RESERVATION_EXPIRED');
    expect([await places(), await verified()]).toEqual([{ total: 20, free: 20, invited: 0, held: 0, sold: 0 }, true]);
  });
});
