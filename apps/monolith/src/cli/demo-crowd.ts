import { QueueConnection } from '#queue-client/queue-connection';
import type { PositionAnswer } from '#queue-client/queue-messages';
import type { SocketLike } from '#queue-client/transports';
import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { NotRunning } from './environment.ts';

const matches = z.object({ items: z.array(z.object({ id: z.string(), queue_required: z.boolean() })) });
const joined = z.object({ websocket_url: z.string(), sse_url: z.string() });
type Joined = z.infer<typeof joined>;

/** How many join at the same time, and how long a simulated fan keeps its turn: it looks around and leaves. */
const JOINING_AT_ONCE = 20;
const STAY_MS = { least: 4000, most: 15_000 };

export interface Crowd {
  readonly fans: number;
  readonly matchId: string;
  readonly queueUrl: string;
  /** Our own services' calls are not limited by address. */
  readonly internalSecret: string;
  readonly seconds: number;
  readonly print: (line: string) => void;
}

export async function firstQueueMatch(publicUrl: string): Promise<string> {
  const response = await fetch(`${publicUrl}/api/v1/matches?status=open&limit=100`).catch(() => undefined);
  if (!response?.ok) throw new NotRunning(`The monolith does not answer at ${publicUrl}. Is the system running (npm start)?`);
  const match = matches.parse(await response.json()).items.find(({ queue_required }) => queue_required);
  if (!match) throw new Error('No open match has a waiting room.');
  return match.id;
}

/** Simulated fans: each joins, waits at its socket, keeps its turn for some seconds and leaves. Bounded in number and time. */
export async function demoCrowd(crowd: Crowd): Promise<{ joined: number; granted: number; gone: number }> {
  const count = { joined: 0, granted: 0, gone: 0 };
  const stop = new AbortController();
  const end = setTimeout(() => stop.abort(), crowd.seconds * 1000);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
  const report = setInterval(
    () => crowd.print(`in line ${count.joined - count.granted}, with a turn ${count.granted - count.gone}, gone ${count.gone}`),
    5000,
  );
  const waiting = Array.from({ length: crowd.fans }, () => randomUUID());
  const stays: Promise<void>[] = [];
  const joiner = async (): Promise<void> => {
    for (let fan = waiting.pop(); fan && !stop.signal.aborted; fan = waiting.pop()) {
      const place = await join(crowd, fan);
      count.joined += 1;
      stays.push(stay(crowd, { fan, place }, count, stop.signal));
    }
  };
  try {
    await Promise.all(Array.from({ length: JOINING_AT_ONCE }, joiner));
    await Promise.all(stays);
  } finally {
    clearTimeout(end);
    clearInterval(report);
  }
  return count;
}

type Count = { joined: number; granted: number; gone: number };

async function call(crowd: Crowd, method: string, path: string, fan: string): Promise<Response> {
  return fetch(`${crowd.queueUrl}/api/v1/queue/${crowd.matchId}${path}`, {
    method,
    headers: { 'x-mock-user-id': fan, 'x-internal-auth': crowd.internalSecret },
  });
}

/** Where to wait for the turn. */
async function join(crowd: Crowd, fan: string): Promise<Joined> {
  const response = await call(crowd, 'POST', '/join', fan);
  if (!response.ok) throw new Error(`joining was answered ${response.status}: ${await response.text()}`);
  return joined.parse(await response.json());
}

async function stay(crowd: Crowd, who: { fan: string; place: Joined }, count: Count, signal: AbortSignal): Promise<void> {
  let connection: QueueConnection | undefined;
  try {
    const isGranted = await new Promise<boolean>((resolve) => {
      signal.addEventListener('abort', () => resolve(false), { once: true });
      connection = connectionOf(crowd, who, resolve);
      connection.start();
    });
    if (!isGranted) return;
    count.granted += 1;
    await pause(STAY_MS.least + Math.random() * (STAY_MS.most - STAY_MS.least), undefined, { signal }).catch(() => undefined);
  } finally {
    await call(crowd, 'DELETE', '', who.fan).catch(() => undefined);
    connection?.stop();
    count.gone += 1;
  }
}

/** The client of the web page, with the header that keeps our one address from being limited. */
function connectionOf(
  crowd: Crowd,
  { fan, place }: { fan: string; place: Joined },
  settle: (isGranted: boolean) => void,
): QueueConnection {
  const headers = { 'x-internal-auth': crowd.internalSecret };
  const readPosition = async (): Promise<PositionAnswer> => {
    const response = await call(crowd, 'GET', '/position', fan);
    if (!response.ok) throw Object.assign(new Error('no place'), { status: response.status });
    return (await response.json()) as PositionAnswer;
  };
  return new QueueConnection(
    { websocketUrl: place.websocket_url, sseUrl: place.sse_url, readPosition },
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
