import { QueueConnection } from '#queue-client/queue-connection';
import type { PositionAnswer } from '#queue-client/queue-messages';
import type { SocketLike } from '#queue-client/transports';
import { publicUrls } from '#platform/config/settings';
import type { Command } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { cliConfig, NotRunning, print, stopSignal, wholeNumber } from './environment.ts';

const matches = z.object({ items: z.array(z.object({ id: z.string(), queue_required: z.boolean() })) });
const joined = z.object({ websocket_url: z.string(), sse_url: z.string() });
type Joined = z.infer<typeof joined>;

const CONCURRENT_JOINS = 20;
/** A simulated fan keeps its turn for a random time between these limits and leaves without buying. */
const MIN_TURN_MS = 4000;
const MAX_TURN_MS = 15_000;

/** How many simulated fans join, which line, and for how long. */
interface CrowdOptions {
  readonly fans: number;
  readonly matchId: string;
  readonly queueUrl: string;
  /** Sent with each call: calls with the internal secret are exempt from the rate limit per address. */
  readonly internalSecret: string;
  readonly seconds: number;
}

/** Adds the command `demo:crowd`. */
export function addDemoCommands(program: Command): void {
  program
    .command('demo:crowd')
    .description('let simulated fans join a waiting room, so that you can watch the line move (at most 2,000 fans)')
    .argument('<n>', 'number of fans', wholeNumber(1, 2000))
    .option('--match <id>', 'the match to join; default: the first open match with a waiting room')
    .option('--time-limit <seconds>', 'stop after this many seconds', wholeNumber(1, 3600), 300)
    .action(async (fans: number, options: { match?: string; timeLimit: number }) => {
      const config = cliConfig();
      const { monolithInternalUrl, queueInternalUrl } = publicUrls(config);
      const matchId = options.match ?? (await firstQueueMatch(monolithInternalUrl));
      print(`${fans} fans join the line of ${matchId}; Ctrl-C makes all of them leave`);
      const result = await demoCrowd({
        fans,
        matchId,
        queueUrl: queueInternalUrl,
        internalSecret: config.INTERNAL_AUTH_SECRET[0],
        seconds: options.timeLimit,
      });
      print(`${result.joined} joined, ${result.granted} got a turn, ${result.left} have left`);
    });
}

/** Returns the id of the first open match that has a waiting room. */
async function firstQueueMatch(monolithUrl: string): Promise<string> {
  const response = await fetch(`${monolithUrl}/api/v1/matches?status=open&limit=100`).catch(() => undefined);
  if (!response?.ok) throw new NotRunning(`The monolith does not answer at ${monolithUrl}. Is the system running (npm start)?`);
  const match = matches.parse(await response.json()).items.find(({ queue_required }) => queue_required);
  if (!match) throw new Error('No open match has a waiting room.');
  return match.id;
}

/** Simulates fans: each one joins, waits on its socket, keeps its turn for some seconds and leaves. Stops after `seconds`. */
async function demoCrowd(crowd: CrowdOptions): Promise<Counts> {
  const counts = { joined: 0, granted: 0, left: 0 };
  const stop = new AbortController();
  const end = setTimeout(() => stop.abort(), crowd.seconds * 1000);
  stopSignal().addEventListener('abort', () => stop.abort());
  const report = setInterval(
    () => print(`in line ${counts.joined - counts.granted}, with a turn ${counts.granted - counts.left}, left ${counts.left}`),
    5000,
  );
  const fansToJoin = Array.from({ length: crowd.fans }, () => randomUUID());
  const visits: Promise<void>[] = [];
  const joinFans = async (): Promise<void> => {
    for (let fan = fansToJoin.pop(); fan && !stop.signal.aborted; fan = fansToJoin.pop()) {
      const urls = await join(crowd, fan);
      counts.joined += 1;
      visits.push(waitAndLeave(crowd, { fan, urls }, counts, stop.signal));
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENT_JOINS }, joinFans));
    await Promise.all(visits);
  } finally {
    clearTimeout(end);
    clearInterval(report);
  }
  return counts;
}

type Counts = { joined: number; granted: number; left: number };

async function call(crowd: CrowdOptions, method: string, path: string, fan: string): Promise<Response> {
  return fetch(`${crowd.queueUrl}/api/v1/queue/${crowd.matchId}${path}`, {
    method,
    headers: { 'x-mock-user-id': fan, 'x-internal-auth': crowd.internalSecret },
  });
}

/** Joins the line. Returns the URLs at which the fan waits for the turn. */
async function join(crowd: CrowdOptions, fan: string): Promise<Joined> {
  const response = await call(crowd, 'POST', '/join', fan);
  if (!response.ok) throw new Error(`joining was answered ${response.status}: ${await response.text()}`);
  return joined.parse(await response.json());
}

async function waitAndLeave(
  crowd: CrowdOptions,
  visitor: { fan: string; urls: Joined },
  counts: Counts,
  signal: AbortSignal,
): Promise<void> {
  let connection: QueueConnection | undefined;
  try {
    const isGranted = await new Promise<boolean>((resolve) => {
      signal.addEventListener('abort', () => resolve(false), { once: true });
      connection = connectionOf(crowd, visitor, resolve);
      connection.start();
    });
    if (!isGranted) return;
    counts.granted += 1;
    await pause(MIN_TURN_MS + Math.random() * (MAX_TURN_MS - MIN_TURN_MS), undefined, { signal }).catch(() => undefined);
  } finally {
    await call(crowd, 'DELETE', '', visitor.fan).catch(() => undefined);
    connection?.stop();
    counts.left += 1;
  }
}

/**
 * The connection of one simulated fan, with the queue client of the web app. The extra header exempts the connection from the
 * rate limit: all simulated fans share one address.
 */
function connectionOf(
  crowd: CrowdOptions,
  { fan, urls }: { fan: string; urls: Joined },
  settle: (isGranted: boolean) => void,
): QueueConnection {
  const headers = { 'x-internal-auth': crowd.internalSecret };
  const readPosition = async (): Promise<PositionAnswer> => {
    const response = await call(crowd, 'GET', '/position', fan);
    if (!response.ok) throw Object.assign(new Error('the position could not be read'), { status: response.status });
    return (await response.json()) as PositionAnswer;
  };
  return new QueueConnection(
    { websocketUrl: urls.websocket_url, sseUrl: urls.sse_url, readPosition },
    {
      message: ({ type }) => type === 'turn_granted' && settle(true),
      link: () => undefined,
      over: () => settle(false),
    },
    {
      openWebSocket: (url) => new WebSocket(url, { perMessageDeflate: false, headers }) as unknown as SocketLike,
      fetch: (url, options) =>
        fetch(url, { ...options, headers: { ...(options?.headers as Record<string, string>), ...headers } }),
    },
  );
}
