import { randomUUID } from 'node:crypto';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { serviceFixture, type ServiceFixture } from '../../apps/queue-service/src/waiting-room/testing/service-fixture.ts';

// Attack: who sees the address of a fan's socket (a proxy's log, a browser's history) reads the fan's id from the queue token. The id
// names the fan in every other service.

let redis: TestRedis;
let pods: readonly ServiceFixture[];

beforeAll(async () => {
  redis = await createTestRedis();
  pods = [await serviceFixture({ REDIS_URL: redis.url }), await serviceFixture({ REDIS_URL: redis.url })];
});
afterAll(async () => {
  for (const pod of pods) await pod.close();
  await redis.close();
});

/** The bytes of an id, in each form in which a text can contain them. */
function formsOf(id: string): string[] {
  const hex = id.replaceAll('-', '');
  return [id, hex, hex.toUpperCase(), ...[0, 1, 2].map((shift) => inBase64(Buffer.from(hex, 'hex'), shift))];
}

/** The characters of base64url that depend on these bytes alone, if `shift` other bytes stand in front of them. */
function inBase64(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64url');
  return text.slice(shift === 0 ? 0 : shift + 1, -1);
}

test('a queue token does not contain the id of the fan or of the match, in any encoding, and is new for each entry', async () => {
  const matchId = await pods[0]!.match();
  const user = randomUUID();
  const tokens: string[] = [];
  for (let entry = 0; entry < 3; entry += 1) {
    tokens.push((await pods[0]!.join(matchId, user)).token);
    await pods[0]!.call('DELETE', `/api/v1/queue/${matchId}`, { user });
  }
  for (const token of tokens) {
    expect(token).toMatch(/^[\w-]{20,100}$/);
    const decoded = Buffer.from(token.slice(3), 'base64url').toString('hex');
    for (const id of [user, matchId]) for (const form of formsOf(id)) expect(token + decoded).not.toContain(form);
  }
  // Tokens of one fan have no more in common than those of two fans.
  const common = [...tokens[0]!].filter((character, at) => character === tokens[1]![at] && character === tokens[2]![at]);
  expect(common.length).toBeLessThan(20);
});

test('a queue token is the same on all devices and works on each pod', async () => {
  const [first, second] = pods as [ServiceFixture, ServiceFixture];
  const matchId = await first.match();
  const { user, token } = await first.join(matchId);
  expect((await second.join(matchId, user)).token).toBe(token);
  await first.socket(token).next('position_update');
  await second.socket(token).next('position_update');
});

test('a changed queue token, or one whose parts come from two tokens, is unknown: 4501', async () => {
  const [pod] = pods as [ServiceFixture];
  const matchId = await pod.match();
  const [mine, theirs] = [(await pod.join(matchId)).token, (await pod.join(matchId)).token];
  for (const at of [3, 10, 30, 50, 70]) {
    const forged = mine.slice(0, at) + theirs.slice(at);
    if (forged === mine || forged === theirs) continue;
    expect((await pod.socket(forged).ended).code).toBe(4501);
  }
});
