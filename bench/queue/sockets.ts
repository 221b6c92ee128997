import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { probe, PROBED } from '../instruments/probe.ts';
import { median, quantile } from '../instruments/quantiles.ts';
import { LOGS_TO_STDERR, startQueueService, type ProbedService } from '../instruments/service.ts';
import { Crowd } from './crowd.ts';
import type { Core } from './joins.ts';
import { restoreEmpty } from './new-line.ts';

const INTERNAL = 'development-internal-auth-secret-000';
const wallMs = (): number => performance.timeOrigin + performance.now();

/** Rate limits off, as all fans come from one address; no regular messages, so that what is measured is what we cause. */
export const settings = (redisUrl: string): Record<string, string> => ({
  REDIS_URL: redisUrl,
  RATE_LIMIT_IP_PER_MINUTE: '0',
  QUEUE_UPDATE_SECONDS: '3600',
  QUEUE_MAX_CONNECTIONS: '19900',
  LOG_LEVEL: 'warn',
});

export async function control({ url }: { url: string }, matchId: string, body: object): Promise<void> {
  const { status } = await fetch(`${url}/api/v1/queue/${matchId}/control`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'x-internal-auth': INTERNAL },
    body: JSON.stringify(body),
  });
  if (status !== 204) throw new Error(`control answered ${status}`);
}

/** Tokens of so many fans who wait in one line that admits nobody. */
export async function line({ lines }: Core, fans: number): Promise<{ matchId: string; tokens: string[] }> {
  const matchId = randomUUID();
  await restoreEmpty(lines, matchId);
  await lines.change(matchId, { status: 'active', processingRate: 30_000, maxOpenWindows: 0 });
  const outcomes = await Promise.all(Array.from({ length: fans }, () => lines.join(matchId, randomUUID())));
  return { matchId, tokens: outcomes.map((outcome) => ('entry' in outcome ? outcome.entry.queueToken! : '')) };
}

/** Stops it whatever comes of the measurement. */
export async function whileUp<T>(server: { stop(): Promise<void> }, measure: () => Promise<T>): Promise<T> {
  try {
    return await measure();
  } finally {
    await server.stop();
  }
}

export async function startYardstick(what: 'bare' | 'gateway' | 'http') {
  // As Node and Nest come: the flags of our own deployment are part of what is compared.
  const execArgv = ['--enable-source-maps', ...PROBED];
  const child = fork(path.join(import.meta.dirname, 'yardstick-server.ts'), [what], { execArgv, stdio: LOGS_TO_STDERR });
  const port = await new Promise<number>((resolve, reject) => {
    child.on('message', (message: { port?: number }) => message.port && resolve(message.port));
    child.once('exit', () => reject(new Error(`the ${what} server did not start; the reason stands above`)));
  });
  const stop = async (): Promise<void> => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.disconnect();
    await gone;
  };
  return { child, port, stop };
}

export interface PushFigures {
  readonly pushMs: number;
  readonly stallMs: number;
  readonly turnP99Ms: number;
  readonly turns: number;
}

/** A service with so many sockets of one line: a message of their own for everybody, then some hundred turns. */
export async function measurePush(core: Core, redisUrl: string, fans: number, rounds: number): Promise<PushFigures> {
  const service = await startQueueService(settings(redisUrl));
  const { matchId, tokens } = await line(core, fans);
  const port = Number(new URL(service.url).port);
  const crowd = await Crowd.connect(tokens.map((token) => ({ port, path: `/ws/${token}` })));
  try {
    await crowd.heardAll(1);
    await sleep(1500);
    const [times, stalls]: [number[], number[]] = [[], []];
    for (let round = 0; round <= rounds; round += 1) {
      await probe(service.child);
      await sleep(50);
      const heard = crowd.heardAll(1);
      const from = wallMs();
      await control(service, matchId, { reason: `round ${round}` });
      const took = (await heard) - from;
      const { longestStallMs } = await probe(service.child);
      // The first one warms up.
      if (round > 0) times.push(took);
      if (round > 0) stalls.push(longestStallMs);
      await sleep(300);
    }
    const turns = Math.min(500, Math.floor(fans / 4));
    await control(service, matchId, { max_open_windows: turns });
    await sleep(3000);
    const latencies = await turnLatencies(redisUrl, matchId, await crowd.turns());
    if (latencies.length !== turns) throw new Error(`${latencies.length} of ${turns} turns were heard`);
    return {
      pushMs: median(times),
      stallMs: Math.max(...stalls),
      turnP99Ms: quantile(latencies, 0.99),
      turns: latencies.length,
    };
  } finally {
    await crowd.close();
    await service.stop();
  }
}

/** From the entry in the stream, whose id is Redis' clock, to the message on the socket, by the same machine's clock. */
async function turnLatencies(redisUrl: string, matchId: string, heard: ReadonlyMap<string, number>): Promise<number[]> {
  const redis = new Redis(redisUrl);
  const entries = await redis.xrange(`queue_events_log:{${matchId}}`, '-', '+');
  await redis.quit();
  const latencies = entries.flatMap(([id, [, text]]) => {
    const { session_token } = JSON.parse(text!) as { session_token?: string };
    const at = heard.get(session_token ?? '');
    return at === undefined ? [] : [at - Number.parseInt(id, 10)];
  });
  return latencies.sort((a, b) => a - b);
}

export async function measureBarePush(sockets: number, rounds: number): Promise<{ pushMs: number; stallMs: number }> {
  const server = await startYardstick('bare');
  const crowd = await Crowd.connect(Array.from({ length: sockets }, (_, at) => ({ port: server.port, path: `/ws/${at}` })));
  try {
    const [times, stalls]: [number[], number[]] = [[], []];
    for (let round = 0; round <= rounds; round += 1) {
      await probe(server.child);
      await sleep(50);
      const heard = crowd.heardAll(1);
      const from = wallMs();
      server.child.send({ push: true });
      const took = (await heard) - from;
      const { longestStallMs } = await probe(server.child);
      if (round > 0) times.push(took);
      if (round > 0) stalls.push(longestStallMs);
      await sleep(300);
    }
    return { pushMs: median(times), stallMs: Math.max(...stalls) };
  } finally {
    await crowd.close();
    await server.stop();
  }
}

/** Resident bytes a connection that has heard its first message and says nothing; both sides after a full collection. */
export async function measureMemory(core: Core, redisUrl: string, sockets: number) {
  const service = await startQueueService(settings(redisUrl));
  const ours = await whileUp(service, () =>
    growth(service.child, async () => {
      const { tokens } = await line(core, sockets);
      const port = Number(new URL(service.url).port);
      const crowd = await Crowd.connect(tokens.map((token) => ({ port, path: `/ws/${token}` })));
      await crowd.heardAll(1);
      return crowd;
    }),
  );
  const gateway = await startYardstick('gateway');
  const targets = Array.from({ length: sockets }, () => ({ port: gateway.port, path: '/ws' }));
  const theirs = await whileUp(gateway, () => growth(gateway.child, () => Crowd.connect(targets)));
  return { ours: ours / sockets, theirs: theirs / sockets };
}

async function growth(child: ChildProcess, connect: () => Promise<Crowd>): Promise<number> {
  await sleep(500);
  const before = await settled(child);
  const crowd = await connect();
  await sleep(1500);
  const after = await settled(child);
  await crowd.close();
  return after - before;
}

/** What a collection frees goes back to the system a moment later, by threads of the background. */
async function settled(child: ChildProcess): Promise<number> {
  await probe(child, { collect: true });
  await sleep(1000);
  return (await probe(child)).residentBytes;
}

/** As many processes as the file limit asks for, everybody in one line: memory of all, and time until all have an update. */
export async function measureMany(core: Core, redisUrl: string, sockets: number) {
  const count = Math.ceil(sockets / 17_000);
  const services: ProbedService[] = [];
  let crowd: Crowd | undefined;
  try {
    for (let at = 0; at < count; at += 1) services.push(await startQueueService(settings(redisUrl)));
    const { matchId, tokens } = await line(core, sockets);
    const ports = services.map(({ url }) => Number(new URL(url).port));
    const targets = tokens.map((token, at) => ({ port: ports[at % count]!, path: `/ws/${token}` }));
    const connected = await Crowd.connect(targets, 40);
    crowd = connected;
    await crowd.heardAll(1, 60_000);
    await sleep(2000);
    const heard = crowd.heardAll(1, 30_000);
    const from = wallMs();
    await control(services[0]!, matchId, { reason: 'everybody' });
    const pushMs = (await heard) - from;
    // As it is in life, right after a push; what a full collection would leave is only told beside it.
    const gigabytesOf = async (collect: boolean) => {
      const memory = await Promise.all(services.map(({ child }) => probe(child, { collect })));
      return memory.reduce((sum, { residentBytes }) => sum + residentBytes, 0) / 1e9;
    };
    const gigabytes = await gigabytesOf(false);
    const collectedGigabytes = await gigabytesOf(true);
    return { processes: count, pushMs, gigabytes, collectedGigabytes, connectsPerSecond: sockets / connected.seconds };
  } finally {
    await crowd?.close();
    await Promise.all(services.map((service) => service.stop()));
  }
}
