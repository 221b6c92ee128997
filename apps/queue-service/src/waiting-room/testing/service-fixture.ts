import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { QUEUE_EVENTS_CHANNEL } from '#contracts/integration-events';
import { loadConfig } from '#platform/config/load-config';
import { developmentSecrets } from '#platform/config/settings';
import { createLogger } from '#platform/logging/logger';
import { createTestRedis } from '#testing/test-database';
import { queueServiceConfig } from '../../config.ts';
import { createQueueService } from '../../queue-service.ts';
import { FanSocket } from './fan-socket.ts';

type Json = Record<string, unknown>;

interface Answer {
  status: number;
  headers: Headers;
  body: Json;
}

/** A running queue service for a test, with calls to its HTTP API and sockets. */
export interface ServiceFixture {
  url: string;
  redis: Redis;
  call(
    method: string,
    path: string,
    options?: { user?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Answer>;
  internal(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Stores the state of a new match, as the monolith sends it: no open windows and no used turns. */
  restoreEmpty(matchId: string): Promise<void>;
  /** While `answers` is true (the default), a fake monolith answers the event `queue.state_needed` for matches made by `match`. */
  monolith: { answers: boolean };
  /** A new match with an active queue. The default settings grant no turns, so that fans stay in line. */
  match(control?: Json): Promise<string>;
  join(matchId: string, user?: string): Promise<{ user: string; token: string; entry: Json }>;
  socket(token: string, headers?: Record<string, string>): FanSocket;
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the whole queue service on a free port. The service uses the Redis of this Jest worker, or `env.REDIS_URL`. */
export async function serviceFixture(env: Record<string, string> = {}): Promise<ServiceFixture> {
  const server = env.REDIS_URL ? undefined : await createTestRedis();
  const redisUrl = env.REDIS_URL ?? server!.url;
  const config = loadConfig(queueServiceConfig, {
    REDIS_URL: redisUrl,
    RATE_LIMIT_IP_PER_MINUTE: '0',
    QUEUE_UPDATE_SECONDS: '30',
    ...env,
  });
  const app = await createQueueService(
    config,
    createLogger({ service: 'queue-service', level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  // When REDIS_URL names a cluster, this client uses its first node only.
  const redis = new Redis(redisUrl.split(',')[0]!, { disconnectTimeout: 100 });
  redis.on('error', () => undefined);
  const sockets: FanSocket[] = [];
  let stopped: Promise<void> | undefined;

  const call: ServiceFixture['call'] = async (method, path, { user, body, headers = {} } = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(user ? { 'x-mock-user-id': user } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, headers: response.headers, body: isJson ? (JSON.parse(text) as Json) : { text } };
  };
  const internal: ServiceFixture['internal'] = (method, path, body) =>
    call(method, path, { body, headers: { 'x-internal-auth': developmentSecrets.INTERNAL_AUTH_SECRET } });
  const restoreEmpty: ServiceFixture['restoreEmpty'] = async (matchId) => {
    const { status } = await internal('PUT', `/api/v1/queue/${matchId}/restore`, { generation: 1, complete: true });
    if (status !== 204) throw new Error(`restore answered ${status}`);
  };
  const monolith = { answers: true };
  const matches = new Map<string, Json>();
  const listener = redis.duplicate();
  listener.on('error', () => undefined);
  listener.on('message', (_channel: string, text: string) => {
    const { event, match_id: matchId } = JSON.parse(text) as { event?: string; match_id: string };
    if (event !== 'queue.state_needed' || !monolith.answers) return;
    const sale = matches.get(matchId);
    const body = sale ? { generation: Date.now(), sale, complete: true } : { exists: false };
    void internal('PUT', `/api/v1/queue/${matchId}/restore`, body).catch(() => undefined);
  });
  void listener.subscribe(QUEUE_EVENTS_CHANNEL).catch(() => undefined);
  const stop = () => (stopped ??= app.close());

  return {
    url,
    redis,
    call,
    internal,
    restoreEmpty,
    monolith,
    async match(control = { max_open_windows: 0 }) {
      const matchId = randomUUID();
      await restoreEmpty(matchId);
      matches.set(matchId, { status: 'active', ...control });
      const { status } = await internal('PUT', `/api/v1/queue/${matchId}/control`, { status: 'active', ...control });
      if (status !== 204) throw new Error(`control answered ${status}`);
      return matchId;
    },
    async join(matchId, user = randomUUID()) {
      const { status, body } = await call('POST', `/api/v1/queue/${matchId}/join`, { user });
      if (status > 201) throw new Error(`join answered ${status} ${JSON.stringify(body)}`);
      return { user, token: body.queue_token as string, entry: body };
    },
    socket(token, headers) {
      const socket = new FanSocket(`${url.replace('http', 'ws')}/ws/${token}`, headers);
      sockets.push(socket);
      return socket;
    },
    stop,
    async close() {
      for (const socket of sockets) socket.terminate();
      await stop();
      redis.disconnect();
      listener.disconnect();
      await server?.close();
    },
  };
}
