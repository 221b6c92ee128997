import { queueKeys } from '#contracts/queue-keys';
import { fans, lineFixture, type LineFixture } from '../testing/line-fixture.ts';

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

async function fan() {
  const matchId = await fixture.match();
  const [userId] = fans(1) as [string];
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

test('connections are listed oldest first, also those that come in one batch or come again', async () => {
  const { connect, devices } = await fan();
  await connect('a-1');
  await connect('a-2', 'a-3', 'a-1', 'a-4');
  expect(await devices()).toEqual(['a-1', 'a-2', 'a-3', 'a-4']);
});

test('what is pushed off is told with every beat of its pod until that says it is closed', async () => {
  const { matchId, connect, devices, ids } = await fan();
  await connect('a-1');
  await connect('b-1');
  await connect('a-2', 'a-3', 'a-4', 'a-5', 'a-6');
  expect(await devices()).toEqual(['a-2', 'a-3', 'a-4', 'a-5', 'a-6']);
  for (const told of [[], []]) expect(await fixture.lines.beat(matchId, 'a-', told)).toEqual(ids(['a-1']));
  expect(await fixture.lines.beat(matchId, 'a-', ids(['a-1']))).toEqual([]);
  expect(await fixture.lines.beat(matchId, 'b-', [])).toEqual(ids(['b-1']));
});

test('a stream pushes nobody off: it is full, and the list as it was', async () => {
  const { token, connect, devices } = await fan();
  await connect('a-1', 'a-2', 'a-3', 'a-4', 'a-5');
  expect(await fixture.lines.readTokenOfStream(token, 'b-1')).toBe('full');
  expect(await devices()).toEqual(['a-1', 'a-2', 'a-3', 'a-4', 'a-5']);
  // The same connection again, as after an answer that was lost, is not a sixth one.
  expect(await fixture.lines.readTokenOfStream(token, 'a-3')).toMatchObject({ entry: { state: { kind: 'waiting' } } });
});

test('connections the list has lost count again as the oldest when their pod names them, and go if there are five others', async () => {
  const { matchId, userId, token, connect, devices, ids } = await fan();
  await connect('b-1', 'b-2', 'b-3');
  expect(await fixture.lines.keep({ matchId, userId, token }, ['a-1', 'a-2'])).toBe(true);
  expect(await devices()).toEqual(['a-1', 'a-2', 'b-1', 'b-2', 'b-3']);
  await fixture.lines.keep({ matchId, userId, token }, ['a-3', 'a-2']);
  expect(await devices()).toEqual(['a-1', 'a-2', 'b-1', 'b-2', 'b-3']);
  expect(await fixture.lines.beat(matchId, 'a-', [])).toEqual(ids(['a-3']));
});

test('a connection of a token that is not the present one, or of a place that is over, is on no list', async () => {
  const { matchId, userId, token, connect, devices } = await fan();
  await fixture.lines.readToken(`${token.slice(0, -4)}AAAA`, 'a-1');
  expect(await devices()).toBeUndefined();
  await connect('a-2');
  await fixture.lines.leave(matchId, userId);
  await connect('a-3');
  expect(await fixture.redis.exists(queueKeys.session(userId, matchId))).toBe(0);
});

test('joining and asking again leave the list as it is', async () => {
  const { matchId, userId, connect, devices } = await fan();
  await connect('a-1', 'b-1');
  await fixture.lines.join(matchId, userId);
  await fixture.lines.visit(matchId, userId);
  expect(await devices()).toEqual(['a-1', 'b-1']);
});
