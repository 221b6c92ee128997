import { queueKeys } from '#contracts/queue-keys';
import { newFanIds, lineFixture, type LineFixture } from '../testing/line-fixture.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

/** A new fan in line, with functions that register connections and read the device list in the session. */
async function fan() {
  const matchId = await fixture.match();
  const [userId] = newFanIds(1) as [string];
  const joined = await fixture.lines.join(matchId, userId);
  const token = joined.kind === 'created' ? joined.entry.queueToken! : '';
  const connect = (...ids: string[]) => Promise.all(ids.map((id) => fixture.lines.readToken(token, id)));
  const devices = async () => {
    const text = await fixture.redis.get(queueKeys.session(userId, matchId));
    return (JSON.parse(text!) as { devices?: string[] }).devices;
  };
  return {
    matchId,
    userId,
    token,
    connect,
    devices,
    ids: (ids: string[]) => ids.map((websocketId) => ({ userId, websocketId })),
  };
}

test('the device list is in order of connecting, even for connections of one batch and for repeated reads of a token', async () => {
  const { connect, devices } = await fan();
  await connect('a-1');
  await connect('a-2', 'a-3', 'a-1', 'a-4');
  expect(await devices()).toEqual(['a-1', 'a-2', 'a-3', 'a-4']);
});

test('each heartbeat of a pod returns its replaced connections until the pod reports them as closed', async () => {
  const { matchId, connect, devices, ids } = await fan();
  await connect('a-1');
  await connect('b-1');
  await connect('a-2', 'a-3', 'a-4', 'a-5', 'a-6');
  expect(await devices()).toEqual(['a-2', 'a-3', 'a-4', 'a-5', 'a-6']);
  for (let heartbeat = 0; heartbeat < 2; heartbeat += 1)
    expect(await fixture.lines.sendHeartbeat(matchId, 'a-', [])).toEqual(ids(['a-1']));
  expect(await fixture.lines.sendHeartbeat(matchId, 'a-', ids(['a-1']))).toEqual([]);
  expect(await fixture.lines.sendHeartbeat(matchId, 'b-', [])).toEqual(ids(['b-1']));
});

test('a sixth connection that is a stream gets `full` and does not change the device list', async () => {
  const { token, connect, devices } = await fan();
  await connect('a-1', 'a-2', 'a-3', 'a-4', 'a-5');
  expect(await fixture.lines.readTokenForStream(token, 'b-1')).toBe('full');
  expect(await devices()).toEqual(['a-1', 'a-2', 'a-3', 'a-4', 'a-5']);
  // Reading the token again for a listed connection, as after a lost reply, does not count as a sixth connection.
  expect(await fixture.lines.readTokenForStream(token, 'a-3')).toMatchObject({ entry: { state: { kind: 'waiting' } } });
});

test('keepEntry adds connections that are missing from the device list as the oldest of the list; if the list is full, a missing connection counts as replaced', async () => {
  const { matchId, userId, token, connect, devices, ids } = await fan();
  await connect('b-1', 'b-2', 'b-3');
  expect(await fixture.lines.keepEntry({ matchId, userId, token }, ['a-1', 'a-2'])).toBe(true);
  expect(await devices()).toEqual(['a-1', 'a-2', 'b-1', 'b-2', 'b-3']);
  await fixture.lines.keepEntry({ matchId, userId, token }, ['a-3', 'a-2']);
  expect(await devices()).toEqual(['a-1', 'a-2', 'b-1', 'b-2', 'b-3']);
  expect(await fixture.lines.sendHeartbeat(matchId, 'a-', [])).toEqual(ids(['a-3']));
});

test('a connection with an outdated token, or of a fan who has left, is not added to the device list', async () => {
  const { matchId, userId, token, connect, devices } = await fan();
  await fixture.lines.readToken(`${token.slice(0, -4)}AAAA`, 'a-1');
  expect(await devices()).toBeUndefined();
  await connect('a-2');
  await fixture.lines.leave(matchId, userId);
  await connect('a-3');
  expect(await fixture.redis.exists(queueKeys.session(userId, matchId))).toBe(0);
});

test('joining again and polling do not change the device list', async () => {
  const { matchId, userId, connect, devices } = await fan();
  await connect('a-1', 'b-1');
  await fixture.lines.join(matchId, userId);
  await fixture.lines.pollEntry(matchId, userId);
  expect(await devices()).toEqual(['a-1', 'b-1']);
});
