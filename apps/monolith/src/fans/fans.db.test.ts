import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import { newKey, openTestApp, type TestApp } from '../testing/test-app.ts';
import { MAX_DEVICES } from './devices.ts';
import { FansApi } from './fans.api.ts';
import { FansModule } from './fans.module.ts';

let database: TestDatabase;
let redis: TestRedis;
let testApp: TestApp;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  testApp = await openTestApp([FansModule], { DATABASE_URL: database.url, REDIS_URL: redis.url });
});
afterAll(async () => {
  await testApp.close();
  await Promise.all([database.close(), redis.close()]);
});

const me = '/api/v1/me';
const ana = { email: 'ana@example.com', name: 'Ana Horvat', locale: 'en' };
const register = (as: string, deviceId: string, token: string, key?: string) =>
  testApp.call('PUT', `${me}/devices/${deviceId}`, { as, body: { fcm_token: token }, ...(key ? { key } : {}) });
const contact = async (userId: string) =>
  (await testApp.transactions.run((tx) => testApp.app.get(FansApi).contacts(tx, [userId]))).get(userId);

describe('the profile', () => {
  test('of a fan who never stored one is empty, with the language Croatian', async () => {
    const answer = await testApp.call('GET', me, { as: randomUUID() });
    expect([answer.status, answer.json]).toEqual([200, { email: null, name: null, locale: 'hr' }]);
  });

  test('is replaced as a whole by each PUT', async () => {
    const as = randomUUID();
    const put = await testApp.call('PUT', me, { as, body: ana });
    expect([put.status, put.json]).toEqual([200, ana]);
    expect((await testApp.call('GET', me, { as })).json).toEqual(ana);
    await testApp.call('PUT', me, { as, body: { email: null, name: ' Ana  ', locale: 'hr' } });
    expect((await testApp.call('GET', me, { as })).json).toEqual({ email: null, name: 'Ana', locale: 'hr' });
  });

  test('that GET returned is accepted by PUT without changes', async () => {
    const as = randomUUID();
    const { json } = await testApp.call('GET', me, { as });
    expect((await testApp.call('PUT', me, { as, body: json })).status).toBe(200);
  });

  test('is not changed by a repeated idempotency key, which gets the stored answer', async () => {
    const as = randomUUID();
    const key = newKey();
    await testApp.call('PUT', me, { as, key, body: ana });
    await testApp.call('PUT', me, { as, body: { ...ana, name: 'Later' } });
    const again = await testApp.call('PUT', me, { as, key, body: ana });
    expect([again.status, again.json, again.headers['idempotency-replayed']]).toEqual([200, ana, 'true']);
    expect((await testApp.call('GET', me, { as })).json.name).toBe('Later');
  });

  test.each([
    ['an unknown field', { ...ana, role: 'ops' }],
    ['a missing field', { email: ana.email, name: ana.name }],
    ['an unknown language', { ...ana, locale: 'de' }],
    ['a broken address', { ...ana, email: 'ana' }],
    ['a second header in the address', { ...ana, email: 'ana@example.com\r\nBcc: b@example.com' }],
    ['an empty name', { ...ana, name: ' ' }],
    ['NUL in the name', { ...ana, name: 'A\0' }],
    ['a lone surrogate in the name', { ...ana, name: 'A\ud83d' }],
    ['a name of 101 letters', { ...ana, name: 'a'.repeat(101) }],
    ['a number as name', { ...ana, name: 3 }],
    ['an array as body', [ana]],
    ['no body', undefined],
  ])('with %s is refused', async (_, body) => {
    const answer = await testApp.call('PUT', me, { as: randomUUID(), body });
    expect([answer.status, answer.json.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  test('needs a caller, and PUT needs an idempotency key', async () => {
    expect((await testApp.call('GET', me)).status).toBe(401);
    const keyless = await testApp.call('PUT', me, { as: randomUUID(), key: null, body: ana });
    expect(keyless.json.code).toBe('IDEMPOTENCY_KEY_REQUIRED');
  });
});

describe('devices', () => {
  test('a registered device gets pushes until it is deleted; a second DELETE is 204 too', async () => {
    const as = randomUUID();
    expect((await register(as, 'phone-1', `token-${as}`)).status).toBe(204);
    expect((await contact(as))?.fcmTokens).toEqual([`token-${as}`]);
    for (let time = 0; time < 2; time += 1) {
      expect((await testApp.call('DELETE', `${me}/devices/phone-1`, { as })).status).toBe(204);
      expect((await contact(as))?.fcmTokens).toEqual([]);
    }
  });

  test('registering a device again replaces its token', async () => {
    const as = randomUUID();
    await register(as, 'phone', `old-${as}`);
    await register(as, 'phone', `new-${as}`);
    expect((await contact(as))?.fcmTokens).toEqual([`new-${as}`]);
  });

  test('a repeated idempotency key gets the stored answer', async () => {
    const [as, key] = [randomUUID(), newKey()];
    await register(as, 'phone', `token-${as}`, key);
    const again = await register(as, 'phone', `token-${as}`, key);
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([204, '', 'true']);
  });

  test('a token belongs to the fan who registered it last', async () => {
    const [before, after] = [randomUUID(), randomUUID()];
    await register(before, 'phone', `shared-${before}`);
    await register(after, 'my-phone', `shared-${before}`);
    expect((await contact(before))?.fcmTokens).toEqual([]);
    expect((await contact(after))?.fcmTokens).toEqual([`shared-${before}`]);
  });

  test('when three fans register one token at the same time, exactly one of them gets it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const fans = [randomUUID(), randomUUID(), randomUUID()];
      const answers = await Promise.all(fans.map((as) => register(as, 'phone', `raced-${fans[0]}`)));
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
      const tokens = await Promise.all(fans.map(async (as) => (await contact(as))?.fcmTokens ?? []));
      expect(tokens.flat()).toEqual([`raced-${fans[0]}`]);
    }
  });

  test(`device number ${MAX_DEVICES + 1} replaces the device that registered longest ago`, async () => {
    const as = randomUUID();
    for (let number = 1; number <= MAX_DEVICES; number += 1) await register(as, `d${number}`, `${as}-${number}`);
    await register(as, 'd1', `${as}-1`);
    await register(as, 'one-more', `${as}-more`);
    const tokens = (await contact(as))?.fcmTokens ?? [];
    expect(tokens).toHaveLength(MAX_DEVICES);
    expect(tokens).toContain(`${as}-1`);
    expect(tokens).not.toContain(`${as}-2`);
  });

  test("deleting a device keeps another fan's device with the same id", async () => {
    const [mine, theirs] = [randomUUID(), randomUUID()];
    await register(theirs, 'phone', `theirs-${theirs}`);
    await testApp.call('DELETE', `${me}/devices/phone`, { as: mine });
    expect((await contact(theirs))?.fcmTokens).toHaveLength(1);
  });

  test.each([
    ['a blank in the id', 'my%20phone', { fcm_token: 'x' }],
    ['NUL in the id', '%00', { fcm_token: 'x' }],
    ['an id of 101 letters', 'a'.repeat(101), { fcm_token: 'x' }],
    ['no token', 'phone', {}],
    ['an empty token', 'phone', { fcm_token: '' }],
    ['a line break in the token', 'phone', { fcm_token: 'a\nb' }],
    ['a token of 1,025 characters', 'phone', { fcm_token: 'a'.repeat(1025) }],
    ['a number as token', 'phone', { fcm_token: 1 }],
    ['an unknown field', 'phone', { fcm_token: 'x', user_id: randomUUID() }],
  ])('registering with %s is refused', async (_, deviceId, body) => {
    const answer = await testApp.call('PUT', `${me}/devices/${deviceId}`, { as: randomUUID(), body });
    expect([answer.status, answer.json.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  test('registering and deleting need a caller', async () => {
    expect((await testApp.call('PUT', `${me}/devices/d`, { body: { fcm_token: 'x' } })).status).toBe(401);
    expect((await testApp.call('DELETE', `${me}/devices/d`)).status).toBe(401);
  });
});

test('FansApi.contacts returns one contact for every given fan, also for an unknown fan', async () => {
  const [known, unknown] = [randomUUID(), randomUUID()];
  await testApp.call('PUT', me, { as: known, body: ana });
  await register(known, 'a', `${known}-a`);
  await register(known, 'b', `${known}-b`);
  const contacts = await testApp.transactions.run((tx) => testApp.app.get(FansApi).contacts(tx, [known, unknown, known]));
  expect([...contacts.values()].sort((a, b) => a.locale.localeCompare(b.locale))).toEqual([
    { userId: known, locale: 'en', email: 'ana@example.com', fcmTokens: [`${known}-b`, `${known}-a`] },
    { userId: unknown, locale: 'hr', email: null, fcmTokens: [] },
  ]);
});
