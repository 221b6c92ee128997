import { randomUUID } from 'node:crypto';
import { TcpProxy } from '#testing/tcp-proxy';
import { queueKeys } from '#contracts/queue-keys';
import { connectRedis, closeRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { RedisWaitingLines } from '../../apps/queue-service/src/waiting-room/outbound/redis-waiting-lines.ts';
import { ReplicaConfirmation } from '../../apps/queue-service/src/waiting-room/outbound/replica-confirmation.ts';
import { startRedisServer, waitUntil, type RedisServer } from './redis-servers.ts';
import { restoreEmpty, TOKEN_SECRETS } from '../../apps/queue-service/src/waiting-room/testing/line-fixture.ts';

const SETTINGS = { purchaseWindowMs: 60_000, persistenceSeconds: 60, presenceMs: 60_000, tokenSecrets: TOKEN_SECRETS };

let [master, replica]: RedisServer[] = [];
let link: TcpProxy;
let redis: RedisConnection;

/** Starts a Redis master and a replica. The tests can cut the link between them, as in scenario F08 of research/reliability.md. */
beforeEach(async () => {
  [master, replica] = await Promise.all([startRedisServer(['--repl-diskless-sync-delay', '0']), startRedisServer()]);
  link = await TcpProxy.inFrontOf(master.url);
  const { hostname, port } = new URL(link.url);
  await replica.client.replicaof(hostname, Number(port));
  await waitUntil(async () => (await replica!.client.info('replication')).includes('master_link_status:up'));
  // The command WAIT counts the replica only after its first acknowledgement, up to a second later.
  await waitUntil(async () => {
    await master!.client.set('key', 'value');
    return (await master!.client.wait(1, 500)) === 1;
  });
  redis = connectRedis(master.url, { name: 'replica-test' });
  await whenReady(redis);
});
afterEach(async () => {
  await closeRedis(redis);
  await Promise.all([master!.stop(), replica!.stop()]);
  await link.close();
});

async function joinMany(lines: RedisWaitingLines, matchId: string, count: number) {
  const users = Array.from({ length: count }, () => randomUUID());
  const outcomes = await Promise.allSettled(users.map((user) => lines.join(matchId, user)));
  return {
    acknowledged: users.filter((_, at) => outcomes[at]!.status === 'fulfilled'),
    refusals: outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : [])),
  };
}

/** Kills the master and promotes the replica. Returns the fans in the line that the replica stores. */
async function failOver(matchId: string): Promise<string[]> {
  await closeRedis(redis);
  await master!.kill();
  await replica!.client.replicaof('NO', 'ONE');
  return replica!.client.zrange(queueKeys.line(matchId), '0', '-1');
}

test('with the Redis command WAIT, every acknowledged join survives the death of the master, and joins that no replica confirms are refused', async () => {
  const unconfirmed: number[] = [];
  const lines = new RedisWaitingLines(redis, SETTINGS, new ReplicaConfirmation(1, () => unconfirmed.push(1)));
  const matchId = randomUUID();
  await restoreEmpty(lines, matchId);
  await lines.change(matchId, { status: 'active', max_open_windows: 0 });
  const before = await joinMany(lines, matchId, 120);
  // On a busy machine the replica may confirm too late. Such a join is refused but may still be stored.
  expect(before.acknowledged.length).toBeGreaterThan(0);
  link.silence();
  const during = await joinMany(lines, matchId, 120);
  expect(during.acknowledged).toEqual([]);
  expect(new Set(during.refusals)).toEqual(new Set(['Error: NOREPLICAS no replica has confirmed this in time']));
  expect(unconfirmed.length).toBeGreaterThan(0);
  const acknowledged = new Set<string>(before.acknowledged);
  expect((await failOver(matchId)).filter((user) => acknowledged.has(user))).toEqual(before.acknowledged);
});

test('negative control: without the Redis command WAIT acknowledged joins are lost when the master dies', async () => {
  const lines = new RedisWaitingLines(redis, SETTINGS);
  const matchId = randomUUID();
  await restoreEmpty(lines, matchId);
  await lines.change(matchId, { status: 'active', max_open_windows: 0 });
  await joinMany(lines, matchId, 10);
  await waitUntil(async () => (await replica!.client.zcard(queueKeys.line(matchId))) === 10);
  link.silence();
  const during = await joinMany(lines, matchId, 20);
  expect(during.acknowledged).toHaveLength(20);
  expect(await failOver(matchId)).toHaveLength(10);
});

test('a promoted Redis master that never had a replica accepts joins, and a Redis master that lost its replica refuses joins', async () => {
  const matchId = randomUUID();
  const lines = new RedisWaitingLines(redis, SETTINGS, new ReplicaConfirmation(1));
  await restoreEmpty(lines, matchId);
  await lines.change(matchId, { status: 'active', max_open_windows: 0 });
  link.refuse();
  await waitUntil(async () => (await master!.client.info('replication')).includes('connected_slaves:0'));
  expect((await joinMany(lines, matchId, 1)).acknowledged).toEqual([]);
  await failOver(matchId);
  const promoted = connectRedis(replica!.url, { name: 'replica-test' });
  await whenReady(promoted);
  const linesOnPromoted = new RedisWaitingLines(promoted, SETTINGS, new ReplicaConfirmation(1));
  expect((await joinMany(linesOnPromoted, matchId, 5)).acknowledged).toHaveLength(5);
  await closeRedis(promoted);
});
