import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { probe, PROBE_ARGUMENTS } from '../instruments/probe.ts';
import { median, quantile } from '../instruments/quantiles.ts';
import { LOGS_TO_STDERR, startQueueService, type ProbedService } from '../instruments/service.ts';
import { FanSockets } from './fan-sockets.ts';
import type { WaitingRoomLines } from './joins.ts';
import { restoreEmpty } from './new-line.ts';

const INTERNAL = 'development-internal-auth-secret-000';
const wallMs = (): number => performance.timeOrigin + performance.now();

/**
 * Settings of the measured queue service. Rate limits are off, because all fans have the same IP address, which may also fill only 80 %
 * of a pod. Regular updates are off, so that only the measured messages are sent.
 */
export const queueServiceSettings = (redisUrl: string): Record<string, string> => ({
  REDIS_URL: redisUrl,
  RATE_LIMIT_IP_PER_MINUTE: '0',
  QUEUE_UPDATE_SECONDS: '3600',
  QUEUE_MAX_CONNECTIONS: '30000',
  LOG_LEVEL: 'warn',
});

/** Changes the settings of a line over HTTP, as the monolith does. The service then sends an update to all fans. */
export async function changeLineSettings({ url }: { url: string }, matchId: string, body: object): Promise<void> {
  const { status } = await fetch(`${url}/api/v1/queue/${matchId}/control`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'x-internal-auth': INTERNAL },
    body: JSON.stringify(body),
  });
  if (status !== 204) throw new Error(`control answered ${status}`);
}

/** Lets fans join a new line that grants no turns. Returns their queue tokens. */
export async function createLine({ lines }: WaitingRoomLines, fans: number): Promise<{ matchId: string; tokens: string[] }> {
  const matchId = randomUUID();
  await restoreEmpty(lines, matchId);
  await lines.change(matchId, { status: 'active', processing_rate: 30_000, max_open_windows: 0 });
  const outcomes = await Promise.all(Array.from({ length: fans }, () => lines.join(matchId, randomUUID())));
  return { matchId, tokens: outcomes.map((outcome) => ('entry' in outcome ? outcome.entry.queueToken! : '')) };
}

/** Stops the server after the measurement, even if it fails. */
export async function withServer<T>(server: { stop(): Promise<void> }, measure: () => Promise<T>): Promise<T> {
  try {
    return await measure();
  } finally {
    await server.stop();
  }
}

/** Starts yardstick-server.ts: a plain `ws` server, a Nest WebSocket gateway or a Nest HTTP server. */
export async function startYardstickServer(kind: 'bare' | 'gateway' | 'http') {
  // Without the Node flags of our deployment: they are a part of our service, which the yardstick is compared with.
  const execArgv = ['--enable-source-maps', ...PROBE_ARGUMENTS];
  const child = fork(path.join(import.meta.dirname, 'yardstick-server.ts'), [kind], { execArgv, stdio: LOGS_TO_STDERR });
  const port = await new Promise<number>((resolve, reject) => {
    child.on('message', (message: { port?: number }) => message.port && resolve(message.port));
    child.once('exit', () => reject(new Error(`the ${kind} server did not start; see its error output above`)));
  });
  const stop = async (): Promise<void> => {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.disconnect();
    await exited;
  };
  return { child, port, stop };
}

/** Times of a push to all fans, the longest event-loop stall, and the latency of turns. */
export interface PushFigures {
  readonly pushMs: number;
  readonly stallMs: number;
  readonly turnP99Ms: number;
  readonly turns: number;
}

/** Measures a service with `fans` sockets of one line: pushes with a different message for each fan, then up to 500 turns. */
export async function measurePush(core: WaitingRoomLines, redisUrl: string, fans: number, rounds: number): Promise<PushFigures> {
  const service = await startQueueService(queueServiceSettings(redisUrl));
  const { matchId, tokens } = await createLine(core, fans);
  const port = Number(new URL(service.url).port);
  const fanSockets = await FanSockets.connect(tokens.map((token) => ({ port, path: `/ws/${token}` })));
  try {
    await fanSockets.waitForMessages(1);
    await sleep(1500);
    const [times, stalls]: [number[], number[]] = [[], []];
    for (let round = 0; round <= rounds; round += 1) {
      await probe(service.child);
      await sleep(50);
      const lastReceivedAt = fanSockets.waitForMessages(1);
      const from = wallMs();
      await changeLineSettings(service, matchId, { reason: `round ${round}` });
      const pushMs = (await lastReceivedAt) - from;
      const { longestStallMs } = await probe(service.child);
      // The push of round 0 only warms up.
      if (round > 0) times.push(pushMs);
      if (round > 0) stalls.push(longestStallMs);
      await sleep(300);
    }
    const turns = Math.min(500, Math.floor(fans / 4));
    await changeLineSettings(service, matchId, { max_open_windows: turns });
    await sleep(3000);
    const latencies = await turnLatencies(redisUrl, matchId, await fanSockets.turns());
    if (latencies.length !== turns) throw new Error(`${latencies.length} of ${turns} turns were received`);
    return {
      pushMs: median(times),
      stallMs: Math.max(...stalls),
      turnP99Ms: quantile(latencies, 0.99),
      turns: latencies.length,
    };
  } finally {
    await fanSockets.close();
    await service.stop();
  }
}

/** Latencies of turns from the entry in the Redis stream, whose id is its time, to the message on the fan's socket. */
async function turnLatencies(redisUrl: string, matchId: string, receivedAt: ReadonlyMap<string, number>): Promise<number[]> {
  const redis = new Redis(redisUrl);
  const entries = await redis.xrange(`queue_events_log:{${matchId}}`, '-', '+');
  await redis.quit();
  const latencies = entries.flatMap(([id, [, text]]) => {
    const { session_token } = JSON.parse(text!) as { session_token?: string };
    const at = receivedAt.get(session_token ?? '');
    return at === undefined ? [] : [at - Number.parseInt(id, 10)];
  });
  return latencies.sort((a, b) => a - b);
}

/** The yardstick for the pushes of measurePush: a plain `ws` server sends a different message to each socket. */
export async function measureBarePush(sockets: number, rounds: number): Promise<{ pushMs: number; stallMs: number }> {
  const server = await startYardstickServer('bare');
  const fanSockets = await FanSockets.connect(
    Array.from({ length: sockets }, (_, at) => ({ port: server.port, path: `/ws/${at}` })),
  );
  try {
    const [times, stalls]: [number[], number[]] = [[], []];
    for (let round = 0; round <= rounds; round += 1) {
      await probe(server.child);
      await sleep(50);
      const lastReceivedAt = fanSockets.waitForMessages(1);
      const from = wallMs();
      server.child.send({ push: true });
      const pushMs = (await lastReceivedAt) - from;
      const { longestStallMs } = await probe(server.child);
      if (round > 0) times.push(pushMs);
      if (round > 0) stalls.push(longestStallMs);
      await sleep(300);
    }
    return { pushMs: median(times), stallMs: Math.max(...stalls) };
  } finally {
    await fanSockets.close();
    await server.stop();
  }
}

/**
 * Resident bytes for each idle connection, of our service and of a Nest gateway, after a full garbage collection. Before that, each
 * socket of our service has received its first message.
 */
export async function measureMemory(core: WaitingRoomLines, redisUrl: string, sockets: number) {
  const service = await startQueueService(queueServiceSettings(redisUrl));
  const ours = await withServer(service, () =>
    memoryGrowth(service.child, async () => {
      const { tokens } = await createLine(core, sockets);
      const port = Number(new URL(service.url).port);
      const fanSockets = await FanSockets.connect(tokens.map((token) => ({ port, path: `/ws/${token}` })));
      await fanSockets.waitForMessages(1);
      return fanSockets;
    }),
  );
  const gateway = await startYardstickServer('gateway');
  const targets = Array.from({ length: sockets }, () => ({ port: gateway.port, path: '/ws' }));
  const yardstick = await withServer(gateway, () => memoryGrowth(gateway.child, () => FanSockets.connect(targets)));
  return { ours: ours / sockets, yardstick: yardstick / sockets };
}

async function memoryGrowth(child: ChildProcess, connect: () => Promise<FanSockets>): Promise<number> {
  await sleep(500);
  const before = await residentAfterCollection(child);
  const fanSockets = await connect();
  await sleep(1500);
  const after = await residentAfterCollection(child);
  await fanSockets.close();
  return after - before;
}

/** Resident memory of a process after a full garbage collection, and a pause in which background threads return freed memory. */
async function residentAfterCollection(child: ChildProcess): Promise<number> {
  await probe(child, { collect: true });
  await sleep(1000);
  return (await probe(child)).residentBytes;
}

/**
 * Connects all fans to one line, with as many service processes as the file limit requires. Measures the total memory, and the time until
 * all fans have received an update.
 */
export async function measureManySockets(core: WaitingRoomLines, redisUrl: string, sockets: number) {
  const count = Math.ceil(sockets / 17_000);
  const services: ProbedService[] = [];
  let fanSockets: FanSockets | undefined;
  try {
    for (let at = 0; at < count; at += 1) services.push(await startQueueService(queueServiceSettings(redisUrl)));
    const { matchId, tokens } = await createLine(core, sockets);
    const ports = services.map(({ url }) => Number(new URL(url).port));
    const targets = tokens.map((token, at) => ({ port: ports[at % count]!, path: `/ws/${token}` }));
    const connected = await FanSockets.connect(targets, 40);
    fanSockets = connected;
    await fanSockets.waitForMessages(1, 60_000);
    await sleep(2000);
    const lastReceivedAt = fanSockets.waitForMessages(1, 30_000);
    const from = wallMs();
    await changeLineSettings(services[0]!, matchId, { reason: 'push to all fans' });
    const pushMs = (await lastReceivedAt) - from;
    // The figure is the memory right after a push, as in production. The memory after a full collection is only a detail.
    const gigabytesOf = async (collect: boolean) => {
      const memory = await Promise.all(services.map(({ child }) => probe(child, { collect })));
      return memory.reduce((sum, { residentBytes }) => sum + residentBytes, 0) / 1e9;
    };
    const gigabytes = await gigabytesOf(false);
    const collectedGigabytes = await gigabytesOf(true);
    return { processes: count, pushMs, gigabytes, collectedGigabytes, connectsPerSecond: sockets / connected.seconds };
  } finally {
    await fanSockets?.close();
    await Promise.all(services.map((service) => service.stop()));
  }
}
