import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { queueKeys } from '#contracts/queue-keys';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { RedisWaitingLines } from '../../apps/queue-service/src/waiting-room/outbound/redis-waiting-lines.ts';
import { ReplicaConfirmation } from '../../apps/queue-service/src/waiting-room/outbound/replica-confirmation.ts';
import { serviceFixture } from '../../apps/queue-service/src/waiting-room/testing/service-fixture.ts';
import { startRedisCluster } from './redis-servers.ts';
import { restoreEmpty, TOKEN_SECRETS } from '../../apps/queue-service/src/waiting-room/testing/line-fixture.ts';

const SETTINGS = { purchaseWindowMs: 60_000, persistenceSeconds: 600, presenceMs: 600_000, tokenSecrets: TOKEN_SECRETS };

let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
const connections: RedisConnection[] = [];

beforeAll(async () => (cluster = await startRedisCluster()), 60_000);
afterAll(async () => {
  await Promise.all(connections.map(closeRedis));
  await cluster.stop();
});

async function pod(): Promise<RedisWaitingLines> {
  const urls = cluster.servers.map(({ url }) => url).join(',');
  const redis = connectRedis(urls, { name: 'cluster-test', commandTimeoutMs: 1200 });
  connections.push(redis);
  await whenReady(redis);
  return new RedisWaitingLines(redis, SETTINGS, new ReplicaConfirmation(1));
}

test('queue service on a Redis cluster: position, turn and completion reach all sockets of a fan on both pods; a sixth socket closes the first', async () => {
  const REDIS_URL = cluster.servers.map(({ url }) => url).join(',');
  const [podA, podB] = [await serviceFixture({ REDIS_URL, QUEUE_CONFIRM_REPLICAS: '1' }), await serviceFixture({ REDIS_URL })];
  try {
    // Six matches, so that their slots are spread over the three masters.
    for (let match = 0; match < 6; match += 1) {
      const matchId = await podA.match();
      const { user, token } = await podA.join(matchId);
      const socket = podB.socket(token);
      expect(await socket.next('position_update')).toMatchObject({ position: 1 });
      // Open five more sockets on both pods: the fan's first socket is closed with 4507.
      const devices = [];
      for (const pod of [podA, podB, podA, podB, podA]) {
        devices.push(pod.socket(token));
        await devices.at(-1)!.next('position_update');
      }
      expect((await socket.ended).code).toBe(4507);
      await podA.internal('PUT', `/api/v1/queue/${matchId}/control`, { max_open_windows: 1 });
      for (const device of devices) await device.next('turn_granted', 1500);
      await podA.internal('POST', `/api/v1/queue/${matchId}/windows/${user}/complete`);
      for (const device of devices) await device.next('turn_completed', 1500);
    }
  } finally {
    await podA.close();
    await podB.close();
  }
}, 60_000);

/** Scenario F07 on one machine: while fans join and get turns through two pods, the Redis master of their match is killed. */
test('the Redis master that stores a line is killed while fans join and get turns: joins work again within 5 s, acknowledged positions are kept', async () => {
  const pods = [await pod(), await pod()];
  const matchId = randomUUID();
  await restoreEmpty(pods[0]!, matchId);
  await pods[0]!.change(matchId, { status: 'active', processing_rate: 600, max_open_windows: 200 });
  const slot = await cluster.servers[0]!.client.cluster('KEYSLOT', queueKeys.line(matchId));
  const owner = Math.min(2, Math.floor(slot / 5461));
  const acknowledged = new Map<string, string>();
  const answeredAt: number[] = [];
  let refused = 0;
  const reasons = new Map<string, number>();
  const stopAt = Date.now() + 10_000;
  const fan = async (number: number) => {
    while (Date.now() < stopAt) {
      const user = randomUUID();
      // A refused fan sends the same request again, like the app does.
      for (let hasJoined = false; !hasJoined && Date.now() < stopAt + 5000;) {
        try {
          const outcome = await pods[number % 2]!.join(matchId, user);
          if (!('entry' in outcome)) throw new Error(outcome.kind);
          acknowledged.set(user, outcome.entry.score!);
          answeredAt.push(performance.now());
          hasJoined = true;
        } catch (error) {
          refused += 1;
          const reason = `pod ${number % 2}: ${String(error).replace(/\d{4,}/g, '#')}`;
          reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
          await sleep(50 * Math.random());
        }
      }
      await sleep(20 * Math.random());
    }
  };
  let granted = 0;
  const admit = async () => {
    while (Date.now() < stopAt) {
      for (const admittingPod of pods) granted += (await admittingPod.admit(matchId, 20).catch(() => ({ granted: 0 }))).granted;
      await sleep(100);
    }
  };
  const load = [...Array.from({ length: 40 }, (_, at) => fan(at)), admit()];
  await sleep(2500);
  await cluster.servers[owner]!.kill();
  await Promise.all(load);

  const outageMs = Math.max(...answeredAt.slice(1).map((at, index) => at - answeredAt[index]!));
  const replica = cluster.servers[owner + 3]!.client;
  const line = await replica.zrange(queueKeys.line(matchId), '0', '-1', 'WITHSCORES');
  const windows = await replica.hkeys(queueKeys.windows(matchId));
  const inLine = new Map<string, string>();
  for (let at = 0; at < line.length; at += 2) inLine.set(line[at]!, line[at + 1]!);
  const lost = [...acknowledged.keys()].filter((user) => !inLine.has(user) && !windows.includes(user));
  const moved = [...acknowledged].filter(([user, score]) => inLine.has(user) && inLine.get(user) !== score);
  process.stdout.write(
    `outage ${outageMs.toFixed(0)} ms; ${acknowledged.size} acknowledged, ${lost.length} lost, ${moved.length} moved, ${refused} refused, ${granted} granted\n${JSON.stringify([...reasons])}\n`,
  );
  expect(lost).toEqual([]);
  expect(moved).toEqual([]);
  expect(outageMs).toBeLessThan(5000);
  expect(acknowledged.size).toBeGreaterThan(500);
  // No fan got a turn before a fan who had joined earlier and is still in the line.
  const lastGranted = Math.max(...windows.map((user) => Number(acknowledged.get(user) ?? 0)));
  expect([...inLine.values()].every((score) => Number(score) > lastGranted)).toBe(true);
  expect(windows.length).toBeLessThanOrEqual(200);
}, 60_000);
