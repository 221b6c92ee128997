import { queueKeys } from '#contracts/queue-keys';
import { loadConfig } from '#platform/config/load-config';
import { silentLogger } from '#testing/test-http-app';
import { createTestRedis, type TestRedis } from '#testing/test-database';
import { Redis } from 'ioredis';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monolithConfig } from '../../apps/monolith/src/config.ts';
import { QueueServiceCalls } from '../../apps/monolith/src/waiting-room/queue-service-calls.ts';
import { queueServiceConfig } from '../../apps/queue-service/src/config.ts';
import { createQueueService } from '../../apps/queue-service/src/queue-service.ts';

// Attack: a secret has leaked and must be replaced during a sale. All processes are restarted one after the other, as in a rolling
// update, while the monoliths call the queue service and fans come back with their receipts. No call may fail.

const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
/** The steps of the runbook. */
const rotation = [OLD, `${OLD},${NEW}`, `${NEW},${OLD}`, NEW];

let redis: TestRedis;
let client: Redis;
let pods: Pod[];
beforeAll(async () => {
  redis = await createTestRedis();
  client = new Redis(redis.url);
});
afterEach(async () => void (await Promise.all(pods.map(({ close }) => close()))));
afterAll(async () => {
  client.disconnect();
  await redis.close();
});

interface Pod {
  readonly url: string;
  /** The secret with which it signs receipts. */
  readonly signsWith: string;
  close(): Promise<void>;
}

/** The settings of a process while the secrets have these values. */
const environment = (secrets: string): Record<string, string> => ({
  DATABASE_URL: 'postgres://127.0.0.1/unused',
  REDIS_URL: redis.url,
  RATE_LIMIT_IP_PER_MINUTE: '0',
  LOG_LEVEL: 'silent',
  INTERNAL_AUTH_SECRET: secrets,
  QUEUE_RECEIPT_SECRET: secrets,
});

async function startPod(secrets: string): Promise<Pod> {
  const app = await createQueueService(loadConfig(queueServiceConfig, environment(secrets)), silentLogger);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, signsWith: secrets.split(',')[0]!, close: () => app.close() };
}

/** What a monolith with these secrets sends to each pod. Returns the statuses of the answers. */
async function callAll(secrets: string, matchId: string): Promise<number[]> {
  const { INTERNAL_AUTH_SECRET } = loadConfig(monolithConfig, environment(secrets));
  const remaining = { remaining_sectors: [{ sector_id: randomUUID(), name: 'A', available: 5 }] };
  const statuses: number[] = [];
  for (const { url } of pods) {
    const calls = new QueueServiceCalls(url, INTERNAL_AUTH_SECRET);
    statuses.push((await calls.send('PUT', `queue/${matchId}/control`, { processing_rate: 600 })).status);
    statuses.push((await calls.send('POST', `queue/${matchId}/sold-out`, remaining)).status);
    statuses.push((await calls.send('POST', `queue/${matchId}/windows/${randomUUID()}/complete`)).status);
  }
  return statuses;
}

/** Opens a line that grants no turns. After a loss of Redis the generation is higher. */
async function openLine(secrets: string, matchId: string, generation = 1): Promise<void> {
  const { INTERNAL_AUTH_SECRET } = loadConfig(monolithConfig, environment(secrets));
  const calls = new QueueServiceCalls(pods[0]!.url, INTERNAL_AUTH_SECRET);
  await calls.call('PUT', `queue/${matchId}/restore`, { generation, complete: true });
  await calls.call('PUT', `queue/${matchId}/control`, { status: 'active', max_open_windows: 0 });
}

interface Place {
  readonly fan: string;
  readonly receipt: string;
  readonly signedWith: string;
}

async function join(pod: Pod, matchId: string, fan: string, receipt?: string): Promise<Place> {
  const response = await fetch(`${pod.url}/api/v1/queue/${matchId}/join`, {
    method: 'POST',
    headers: { 'x-mock-user-id': fan, 'content-type': 'application/json' },
    body: JSON.stringify(receipt === undefined ? {} : { receipt }),
  });
  if (!response.ok) throw new Error(`joining was answered ${response.status} ${await response.text()}`);
  return { fan, signedWith: pod.signsWith, ...((await response.json()) as { receipt: string }) };
}

/** Loses the line. The fans come back in reverse order, each with the receipt to every pod in turn. Returns their new positions. */
async function loseAndComeBack(
  secrets: string,
  matchId: string,
  places: readonly Place[],
  generation: number,
): Promise<number[]> {
  await client.del(await client.keys(`*{${matchId}}`));
  await openLine(secrets, matchId, generation);
  for (const [index, { fan, receipt }] of places.toReversed().entries())
    await join(pods[index % pods.length]!, matchId, fan, receipt);
  const line = await client.zrange(queueKeys.line(matchId), '0', '-1');
  return places.map(({ fan }) => line.indexOf(fan) + 1);
}

/** All ways to bring four processes, two of each service, from one step to the next: which one is restarted first, second, … */
const orders = [
  ['monolith', 'monolith', 'pod', 'pod'],
  ['pod', 'pod', 'monolith', 'monolith'],
  ['monolith', 'pod', 'monolith', 'pod'],
] as const;

test.each(orders)(
  'INTERNAL_AUTH_SECRET is replaced without a refused call when the restarts are %s, %s, %s, %s',
  async (...order) => {
    const matchId = randomUUID();
    pods = [await startPod(OLD), await startPod(OLD)];
    const monoliths = [OLD, OLD];
    await openLine(OLD, matchId);
    const refused: number[] = [];
    for (const secrets of rotation.slice(1)) {
      const restarted = { monolith: 0, pod: 0 };
      for (const kind of order) {
        const index = restarted[kind]++;
        if (kind === 'monolith') monoliths[index] = secrets;
        else {
          await pods[index]!.close();
          pods[index] = await startPod(secrets);
        }
        for (const current of monoliths) refused.push(...(await callAll(current, matchId)).filter((status) => status !== 204));
      }
    }
    expect(refused).toEqual([]);
  },
);

test('negative control: without the steps in between calls are refused', async () => {
  const matchId = randomUUID();
  pods = [await startPod(OLD), await startPod(OLD)];
  await openLine(OLD, matchId);
  await pods[0]!.close();
  pods[0] = await startPod(NEW);
  expect(await callAll(OLD, matchId)).toEqual([401, 401, 401, 204, 204, 204]);
});

test('QUEUE_RECEIPT_SECRET is replaced and no fan loses the place in the line, whichever pod has signed the receipt', async () => {
  const matchId = randomUUID();
  pods = [await startPod(OLD), await startPod(OLD)];
  await openLine(OLD, matchId);
  const places: Place[] = [];
  for (const [step, secrets] of rotation.entries()) {
    for (const index of pods.keys()) {
      await pods[index]!.close();
      pods[index] = await startPod(secrets);
      // A pod of this step and one of the step before are running side by side.
      for (const pod of pods) places.push(await join(pod, matchId, randomUUID()));
      if (step < rotation.length - 1) {
        const positions = await loseAndComeBack(secrets, matchId, places, 10 * (step + 1) + index);
        expect(positions).toEqual(places.map((_, at) => at + 1));
      }
    }
  }
  // When the old secret is gone, its receipts are refused. So the runbook keeps it until the lines of that time have ended.
  for (const { fan, receipt, signedWith } of places) {
    const rejoined = join(pods[0]!, matchId, fan, receipt);
    if (signedWith === NEW) await expect(rejoined).resolves.toMatchObject({ fan });
    else await expect(rejoined).rejects.toThrow('answered 400');
  }
  expect(places.filter(({ signedWith }) => signedWith === OLD).length).toBeGreaterThan(4);
});
