import type { OutgoingPush } from '../application/ports.ts';
import { fcmError, FakeFcm } from '../../testing/fake-fcm.ts';
import type { FakeAnswer } from '../../testing/fake-http-server.ts';
import { Fcm } from './fcm.ts';

let peer: FakeFcm;
let fcm: Fcm;

beforeEach(async () => {
  peer = await FakeFcm.start();
  fcm = new Fcm({ base: peer.url, account: peer.account, timeoutMs: 500 });
});
afterEach(() => peer.close());

const push = (tokens: readonly string[], changes: Partial<OutgoingPush> = {}): OutgoingPush => ({
  messageId: 'm1',
  template: 'queue_your_turn',
  userId: 'u1',
  tokens,
  title: 'Na redu ste',
  body: 'Imate 20 minuta.',
  data: { action: 'open_checkout' },
  urgent: true,
  ...changes,
});

test('a push to 500 devices makes 500 requests with one access token, and the results are in the order of the devices', async () => {
  const tokens = Array.from({ length: 500 }, (_, index) => `device-${index}`);
  peer.devices.set('device-7', fcmError(404, 'UNREGISTERED'));
  peer.devices.set('device-9', fcmError(503, 'UNAVAILABLE'));
  const withDefaultTimeout = new Fcm({ base: peer.url, account: peer.account });
  const results = await withDefaultTimeout.send(push(tokens));
  expect([results.length, results[7]?.kind, results[8]?.kind, results[9]?.kind]).toEqual([500, 'dead', 'sent', 'provider down']);
  expect(new Set(peer.arrived.map(({ token }) => token)).size).toBe(498);
  expect(peer.granted).toBe(1);
});

test('a request to FCM has the text, the data, the priority and the expiry of the push', async () => {
  const until = new Date(Math.floor(Date.now() / 1000) * 1000 + 600_000);
  await fcm.send(push(['phone'], { usefulUntil: until }));
  await fcm.send(push(['tablet'], { urgent: false }));
  const [turn, normal] = peer.arrived.map(({ message }) => message);
  expect(turn).toMatchObject({
    token: 'phone',
    notification: { title: 'Na redu ste', body: 'Imate 20 minuta.' },
    data: { action: 'open_checkout' },
    android: { priority: 'HIGH', ttl: expect.stringMatching(/^(600|599)s$/) as string },
    apns: { headers: { 'apns-priority': '10', 'apns-expiration': String(until.getTime() / 1000) } },
  });
  expect(normal).toMatchObject({ android: { priority: 'NORMAL' }, apns: { headers: { 'apns-priority': '5' } } });
});

test.each<[string, FakeAnswer, string]>([
  ['UNREGISTERED', fcmError(404, 'UNREGISTERED'), 'dead'],
  [
    'INVALID_ARGUMENT about the token',
    fcmError(400, 'INVALID_ARGUMENT', { message: 'The registration token is not a valid FCM registration token' }),
    'dead',
  ],
  ['INVALID_ARGUMENT naming message.token', fcmError(400, 'INVALID_ARGUMENT', { field: 'message.token' }), 'dead'],
  ['INVALID_ARGUMENT about the payload', fcmError(400, 'INVALID_ARGUMENT', { field: 'message.data[0].value' }), 'refused'],
  [
    'INVALID_ARGUMENT because the message is too big',
    fcmError(400, 'INVALID_ARGUMENT', { message: 'Android message is too big' }),
    'refused',
  ],
  ['SENDER_ID_MISMATCH', fcmError(403, 'SENDER_ID_MISMATCH'), 'dead'],
  ['QUOTA_EXCEEDED', fcmError(429, 'QUOTA_EXCEEDED', { retryAfter: 3 }), 'too fast'],
  ['UNAVAILABLE', fcmError(503, 'UNAVAILABLE', { retryAfter: 3 }), 'provider down'],
  ['INTERNAL', fcmError(500, 'INTERNAL'), 'provider down'],
  ['THIRD_PARTY_AUTH_ERROR', fcmError(401, 'THIRD_PARTY_AUTH_ERROR'), 'failed'],
  ['404 for an unknown project', { status: 404 }, 'failed'],
  ['no answer', 'no answer', 'unanswered'],
  ['a connection lost after the request', 'disconnect', 'unanswered'],
])('the FCM answer "%s" to a push becomes the right result of its device', async (_answer, answer, kind) => {
  await fcm.send(push(['works']));
  peer.devices.set('device', answer);
  expect((await fcm.send(push(['device'])))[0]?.kind).toBe(kind);
});

test('the FCM answer SENDER_ID_MISMATCH before any successful push is `failed`, not `dead`: our account may be wrong', async () => {
  peer.always = fcmError(403, 'SENDER_ID_MISMATCH');
  expect((await fcm.send(push(['a', 'b']))).map(({ kind }) => kind)).toEqual(['failed', 'failed']);
});

test('a revoked access token is replaced, and the push arrives', async () => {
  await fcm.send(push(['a']));
  peer.withdraw();
  expect(await fcm.send(push(['b']))).toEqual([{ kind: 'sent' }]);
  expect(peer.granted).toBe(2);
});

test('without an access token no push is sent: if the token endpoint answers 503 the result is `provider down`, if it refuses, `failed`', async () => {
  peer.oauth = { status: 503 };
  expect((await fcm.send(push(['a'])))[0]?.kind).toBe('provider down');
  peer.oauth = { status: 400, body: { error: 'invalid_grant' } };
  expect((await fcm.send(push(['a'])))[0]?.kind).toBe('failed');
  expect(peer.arrived).toEqual([]);
});
