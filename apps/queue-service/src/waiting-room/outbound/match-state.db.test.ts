import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { QUEUE_EVENTS_CHANNEL, queueEvent } from '#contracts/integration-events';
import { queueKeys } from '#contracts/queue-keys';
import { AdvanceLine } from '../application/advance-line.ts';
import { StateNeeded, type RestoredPart } from '../application/ports.ts';
import { newFanIds, lineFixture, pause, restoreEmpty, type LineFixture } from '../testing/line-fixture.ts';

let fixture: LineFixture;
let listener: Redis;
const published: string[] = [];
beforeAll(async () => {
  fixture = await lineFixture();
  listener = fixture.redis.duplicate();
  listener.on('message', (_channel, text) => published.push(text));
  await listener.subscribe(QUEUE_EVENTS_CHANNEL);
});
afterAll(async () => {
  await listener.quit();
  await fixture.close();
});

const requestsForState = (matchId: string) =>
  published.filter((text) => text.includes('state_needed') && text.includes(matchId)).length;
const keysOf = (matchId: string) => fixture.redis.keys(`*{${matchId}}`);
const lose = async (matchId: string) => fixture.redis.del(...(await keysOf(matchId)));
const partWith = (fields: Partial<RestoredPart>): RestoredPart => ({
  exists: true,
  generation: 2,
  part: 0,
  complete: true,
  windows: [],
  used: [],
  ...fields,
});
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const windowOf = (userId: string, fields: Partial<NonNullable<RestoredPart['windows']>[number]> = {}) => ({
  user_id: userId,
  session_token: `st_${userId}`,
  expires_at: inAnHour(),
  place_score: Date.now() * 1000,
  ...fields,
});
const windowsOf = (matchId: string) => fixture.redis.hkeys(queueKeys.windows(matchId));

describe('a match whose state Redis does not know', () => {
  test('throws StateNeeded for every call, and only the key queue_restored is written', async () => {
    const { lines } = fixture;
    const matchId = randomUUID();
    const [fan] = newFanIds(1) as [string];
    await expect(lines.join(matchId, fan)).rejects.toThrow(StateNeeded);
    await expect(lines.pollEntry(matchId, fan)).rejects.toThrow(StateNeeded);
    await expect(lines.leave(matchId, fan)).rejects.toThrow(StateNeeded);
    await expect(lines.completeWindow(matchId, fan)).rejects.toThrow(StateNeeded);
    await expect(lines.readQueue(matchId)).rejects.toThrow(StateNeeded);
    await expect(lines.readMoves(matchId, 0)).rejects.toThrow(StateNeeded);
    await expect(lines.readPositions(matchId, [fan])).rejects.toThrow(StateNeeded);
    expect(await new AdvanceLine(lines).runOnce(matchId)).toMatchObject({ granted: 0, ended: 0 });
    expect(await keysOf(matchId)).toEqual([queueKeys.restored(matchId)]);
  });

  test('makes all pods together publish queue.state_needed once a second, even without further requests', async () => {
    const pods = [fixture.pod(), fixture.pod(), fixture.pod()];
    const matchId = randomUUID();
    await expect(pods[0]!.join(matchId, randomUUID())).rejects.toThrow(StateNeeded);
    expect(pods[0]!.matchesWithoutState()).toEqual([matchId]);
    for (let run = 0; run < 22; run += 1) {
      await Promise.all(pods.map((pod) => pod.admit(matchId, 5)));
      await pause(100);
    }
    expect(requestsForState(matchId)).toBeGreaterThanOrEqual(2);
    expect(requestsForState(matchId)).toBeLessThanOrEqual(3);
    await restoreEmpty(pods[1]!, matchId);
    await pods[0]!.admit(matchId, 5);
    expect(pods[0]!.matchesWithoutState()).toEqual([]);
  });

  test('has no waiting room for a minute after the monolith has reported `exists: false`', async () => {
    const matchId = await fixture.matchWithoutQueue();
    expect((await fixture.lines.join(matchId, randomUUID())).kind).toBe('unknown');
    expect(await fixture.lines.readQueue(matchId)).toBeUndefined();
    expect(requestsForState(matchId)).toBe(0);
    const ttl = await fixture.redis.ttl(queueKeys.restored(matchId));
    expect([ttl > 50, ttl <= 60]).toEqual([true, true]);
  });

  test('stores changed settings, but joins still throw StateNeeded', async () => {
    const matchId = randomUUID();
    expect(await fixture.lines.change(matchId, { status: 'active' })).toEqual({ outcome: 'done', isKnown: false });
    await expect(fixture.lines.join(matchId, randomUUID())).rejects.toThrow(StateNeeded);
    await restoreEmpty(fixture.lines, matchId);
    expect((await fixture.lines.join(matchId, randomUUID())).kind).toBe('created');
  });

  test('`exists: false` does not change a match whose state Redis knows or is receiving', async () => {
    const known = await fixture.match();
    const restoring = randomUUID();
    await fixture.lines.restore(restoring, partWith({ complete: false }));
    for (const matchId of [known, restoring]) await fixture.lines.restore(matchId, partWith({ exists: false }));
    expect((await fixture.lines.join(known, randomUUID())).kind).toBe('created');
    expect(await fixture.lines.restore(restoring, partWith({ part: 1, sale: undefined }))).toBe('done');
  });
});

describe('a restored match', () => {
  test('has its open windows: the fan gets the same turn, and the window counts for max_open_windows', async () => {
    const matchId = await fixture.match({ max_open_windows: 1 });
    const [holder, next] = newFanIds(2) as [string, string];
    await fixture.lines.join(matchId, holder);
    await fixture.lines.admit(matchId, 1);
    const [, fields] = (await fixture.redis.xrange(queueKeys.events(matchId), '-', '+')).at(-1)!;
    const granted = queueEvent.parse(JSON.parse(fields[1]!));
    if (granted.event !== 'queue.turn_granted') throw new Error('no turn was granted');
    await lose(matchId);
    const window = windowOf(holder, {
      session_token: granted.session_token,
      expires_at: granted.expires_at,
      place_score: granted.place_score!,
    });
    await fixture.lines.restore(matchId, partWith({ sale: { status: 'active', max_open_windows: 1 }, windows: [window] }));
    await fixture.lines.join(matchId, next);
    expect((await fixture.lines.admit(matchId, 5)).granted).toBe(0);
    const found = await fixture.lines.join(matchId, holder);
    expect(found).toMatchObject({
      kind: 'kept',
      entry: {
        state: { kind: 'granted', sessionToken: granted.session_token, expiresAt: granted.expires_at },
        score: String(granted.place_score),
      },
    });
    await fixture.lines.completeWindow(matchId, holder, granted.session_token);
    expect((await fixture.lines.admit(matchId, 5)).granted).toBe(1);
  });

  test('negative control: a match restored without its open windows exceeds max_open_windows and gives a fan a second turn', async () => {
    const matchId = await fixture.match({ max_open_windows: 1 });
    const [holder] = newFanIds(1) as [string];
    await fixture.lines.join(matchId, holder);
    await fixture.lines.admit(matchId, 1);
    await lose(matchId);
    await restoreEmpty(fixture.lines, matchId, 2);
    await fixture.lines.change(matchId, { status: 'active', max_open_windows: 1 });
    await fixture.lines.join(matchId, holder);
    expect((await fixture.lines.admit(matchId, 5)).granted).toBe(1);
  });

  test('ignores the receipt of a used turn and accepts a later receipt', async () => {
    const matchId = await fixture.match({ max_open_windows: 0 });
    const [buyer, other] = newFanIds(2) as [string, string];
    const nowUs = Date.now() * 1000;
    await lose(matchId);
    await fixture.lines.restore(
      matchId,
      partWith({ sale: { status: 'active', max_open_windows: 0 }, used: [[buyer, nowUs - 50]] }),
    );
    await fixture.lines.join(matchId, other);
    expect((await fixture.lines.join(matchId, buyer, String(nowUs - 50))).kind).toBe('created');
    expect(await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1')).toEqual([other, buyer]);
    await fixture.lines.leave(matchId, buyer);
    await lose(matchId);
    await fixture.lines.restore(
      matchId,
      partWith({ generation: 3, sale: { status: 'active', max_open_windows: 0 }, used: [[buyer, nowUs - 50]] }),
    );
    await fixture.lines.join(matchId, other);
    expect((await fixture.lines.join(matchId, buyer, String(nowUs - 49))).kind).toBe('restored');
    expect(await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1')).toEqual([buyer, other]);
  });

  test('ends a window that expired while the state was lost, and publishes its event', async () => {
    const matchId = randomUUID();
    const [fan] = newFanIds(1) as [string];
    const window = windowOf(fan, { expires_at: new Date(Date.now() - 10).toISOString() });
    await fixture.lines.restore(matchId, partWith({ sale: { status: 'active' }, windows: [window] }));
    expect((await fixture.lines.pollEntry(matchId, fan))?.state).toMatchObject({ kind: 'over', status: 'expired' });
    expect(await new AdvanceLine(fixture.lines).runOnce(matchId)).toMatchObject({ ended: 1 });
    // The test may get the publication after the reply of the script, because it arrives on another connection.
    await pause(50);
    expect(published.filter((text) => text.includes('queue.expired') && text.includes(matchId))).toHaveLength(1);
  });

  test('answers requests only after the last part of its state, and only if no earlier part was lost', async () => {
    const matchId = randomUUID();
    const [fan, late] = newFanIds(2) as [string, string];
    await fixture.lines.restore(matchId, partWith({ complete: false, sale: { status: 'active' } }));
    await fixture.lines.restore(matchId, partWith({ part: 1, complete: false, windows: [windowOf(fan)] }));
    await expect(fixture.lines.join(matchId, late)).rejects.toThrow(StateNeeded);
    expect(requestsForState(matchId)).toBe(0);
    await lose(matchId);
    expect(await fixture.lines.restore(matchId, partWith({ part: 2 }))).toBe('out_of_step');
    await expect(fixture.lines.join(matchId, late)).rejects.toThrow(StateNeeded);
    await fixture.lines.restore(matchId, partWith({ generation: 3, complete: false, sale: { status: 'active' } }));
    expect(await fixture.lines.restore(matchId, partWith({ part: 1 }))).toBe('out_of_step');
    await fixture.lines.restore(matchId, partWith({ generation: 3, part: 1, windows: [windowOf(fan)] }));
    expect(await windowsOf(matchId)).toEqual([fan]);
    expect((await fixture.lines.join(matchId, late)).kind).toBe('created');
  });

  test('ignores a restore whose generation (number of the state) is older or the same; a newer generation replaces the turns and keeps the line', async () => {
    const matchId = await fixture.match({ max_open_windows: 1 });
    const [holder, waiting, other] = newFanIds(3) as [string, string, string];
    await fixture.lines.join(matchId, holder);
    await fixture.lines.join(matchId, waiting);
    await fixture.lines.admit(matchId, 1);
    for (const generation of [0, 1]) expect(await fixture.lines.restore(matchId, partWith({ generation }))).toBe('done');
    expect(await windowsOf(matchId)).toEqual([holder]);
    await fixture.lines.restore(matchId, partWith({ generation: 2, windows: [windowOf(other), windowOf(waiting)] }));
    expect((await windowsOf(matchId)).toSorted()).toEqual([other, waiting].toSorted());
    expect(await fixture.redis.zrange(queueKeys.line(matchId), '0', '-1')).toEqual([]);
  });

  test('starts with a full token bucket only if no turns were granted before the loss', async () => {
    const [running, fresh] = [randomUUID(), randomUUID()];
    const sale = { status: 'active', processing_rate: 600 } as const;
    await fixture.lines.restore(running, partWith({ sale, counts: { granted: 70, completed: 60, expired: 4 } }));
    await fixture.lines.restore(fresh, partWith({ sale, counts: { granted: 0, completed: 0, expired: 0 } }));
    for (const matchId of [running, fresh]) await Promise.all(newFanIds(20).map((fan) => fixture.lines.join(matchId, fan)));
    expect((await fixture.lines.admit(running, 20)).granted).toBeLessThan(5);
    expect((await fixture.lines.admit(fresh, 20)).granted).toBe(10);
    expect(await fixture.lines.readQueue(running)).toMatchObject({ completed: 60, expired: 4 });
  });

  test('that was sold out is closed with the reason sold_out, and its windows stay open', async () => {
    const matchId = randomUUID();
    const [fan] = newFanIds(1) as [string];
    const sale = { status: 'closed', closed_reason: 'sold_out' } as const;
    await fixture.lines.restore(matchId, partWith({ sale, windows: [windowOf(fan)] }));
    expect(await fixture.lines.join(matchId, randomUUID())).toEqual({ kind: 'closed', reason: 'sold_out' });
    expect((await fixture.lines.pollEntry(matchId, fan))?.state.kind).toBe('granted');
  });

  test('can have 1,000 open windows and 100,000 used turns, which are sent in parts', async () => {
    const matchId = randomUUID();
    const sale = { status: 'active', max_open_windows: 1000 } as const;
    await fixture.lines.restore(matchId, partWith({ complete: false, sale }));
    const holders = newFanIds(1000);
    await fixture.lines.restore(matchId, partWith({ part: 1, complete: false, windows: holders.map((fan) => windowOf(fan)) }));
    const used = newFanIds(100_000);
    for (let index = 0; index < 25; index += 1) {
      const chunk = used.slice(index * 4000, index * 4000 + 4000).map((fan) => [fan, 1_700_000_000_000_000 + index] as const);
      await fixture.lines.restore(matchId, partWith({ part: 2 + index, complete: index === 24, used: chunk }));
    }
    expect(await fixture.redis.hlen(queueKeys.used(matchId))).toBe(101_000);
    expect(await fixture.redis.hget(queueKeys.used(matchId), used.at(-1)!)).toBe('1700000000000024');
    expect(await fixture.lines.readQueue(matchId)).toMatchObject({ openWindows: 1000 });
  });
});

test('when Redis has lost the list of matches, a pod writes the matches that it knows into the list again', async () => {
  const pod = fixture.pod();
  const matchId = await fixture.match();
  expect(await pod.matches()).toContain(matchId);
  await fixture.redis.del(queueKeys.matches);
  expect(await pod.matches()).toContain(matchId);
  expect(await fixture.redis.sismember(queueKeys.matches, matchId)).toBe(1);
});
