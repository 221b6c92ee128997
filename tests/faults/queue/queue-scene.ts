import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { developmentSecrets } from '#platform/config/settings';
import { createTestRedis } from '#testing/test-database';
import { TcpProxy } from '#testing/tcp-proxy';
import { FanSocket } from '../../../apps/queue-service/src/waiting-room/testing/fan-socket.ts';
import { startQueueService, type RunningService } from '../../../bench/instruments/service.ts';

/** Notes what is not as it should be, and goes on. */
export type Claim = (isTrue: boolean, otherwise: string) => void;
export type Figures = Readonly<Record<string, string | number>>;

/** Shaped as the scenarios of the fault suite are. */
export interface QueueScenario {
  readonly id: string;
  readonly title: string;
  play(scene: QueueScene, claim: Claim): Promise<Figures>;
}

export interface WaitingFan {
  readonly user: string;
  readonly token: string;
}

const INTERNAL = developmentSecrets.INTERNAL_AUTH_SECRET;

/** Queue services as they are deployed, on a Redis of the scenario's own behind a network that can be broken. */
export class QueueScene {
  readonly #pods: RunningService[] = [];
  readonly #sockets: FanSocket[] = [];
  readonly #raw = new Set<net.Socket>();

  private constructor(
    private readonly redis: Awaited<ReturnType<typeof createTestRedis>>,
    readonly network: TcpProxy,
  ) {}

  static async open(): Promise<QueueScene> {
    const redis = await createTestRedis();
    return new QueueScene(redis, await TcpProxy.inFrontOf(redis.url));
  }

  async start(settings: Record<string, string> = {}): Promise<RunningService> {
    const environment = { REDIS_URL: this.network.url, RATE_LIMIT_IP_PER_MINUTE: '0', LOG_LEVEL: 'fatal', ...settings };
    const pod = await startQueueService(environment);
    this.#pods.push(pod);
    return pod;
  }

  async control(pod: RunningService, matchId: string, body: object, call = 'control'): Promise<void> {
    const response = await fetch(`${pod.url}/api/v1/queue/${matchId}/${call}`, {
      method: call === 'sold-out' ? 'POST' : 'PUT',
      headers: { 'content-type': 'application/json', 'x-internal-auth': INTERNAL },
      body: JSON.stringify(body),
    });
    if (response.status !== 204) throw new Error(`${call} was answered ${response.status}`);
  }

  /** Makes the state of a new match known: nobody has had a turn yet. Without it the waiting room answers nobody. */
  async restoreEmpty(pod: RunningService, matchId: string): Promise<void> {
    await this.control(pod, matchId, { generation: 1, complete: true }, 'restore');
  }

  /** A match that lets nobody in unless told to. */
  async match(pod: RunningService, change: object = { max_open_windows: 0 }): Promise<string> {
    const matchId = randomUUID();
    await this.restoreEmpty(pod, matchId);
    await this.control(pod, matchId, { status: 'active', ...change });
    return matchId;
  }

  async join(pod: RunningService, matchId: string, user: string = randomUUID()): Promise<WaitingFan> {
    const response = await ask(pod, matchId, user, 'POST', 'join');
    if (!response.ok) throw new Error(`joining was answered ${response.status}`);
    return { user, token: ((await response.json()) as { queue_token: string }).queue_token };
  }

  async crowd(pod: RunningService, matchId: string, fans: number): Promise<WaitingFan[]> {
    const joined: WaitingFan[] = [];
    for (let from = 0; from < fans; from += 50) {
      joined.push(...(await Promise.all(Array.from({ length: Math.min(50, fans - from) }, () => this.join(pod, matchId)))));
    }
    return joined;
  }

  socket(pod: RunningService, token: string): FanSocket {
    const socket = new FanSocket(`${pod.url.replace('http', 'ws')}/ws/${token}`);
    this.#sockets.push(socket);
    return socket;
  }

  /** A connection to write anything to; open, with an upgrade behind it where there is a token. */
  async raw(pod: RunningService, token?: string, headers: readonly string[] = []): Promise<net.Socket> {
    const { hostname, port } = new URL(pod.url);
    const socket = net.connect(Number(port), hostname);
    this.#raw.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#raw.delete(socket));
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    if (token === undefined) return socket;
    const lines = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', ...headers];
    socket.write(`GET /ws/${token} HTTP/1.1\r\n${lines.join('\r\n')}\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve).once('close', resolve));
    return socket;
  }

  /** Resident megabytes of a pod. */
  async memoryOf(pod: RunningService): Promise<number> {
    const page = await (await fetch(`${pod.url}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(page)?.[1]) / 1e6;
  }

  async kill(pod: RunningService): Promise<void> {
    process.kill(pod.pid, 'SIGKILL');
    await pod.stop();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    for (const socket of this.#raw) socket.destroy();
    await Promise.all(this.#pods.map((pod) => pod.stop()));
    await this.network.close();
    await this.redis.flush();
    await this.redis.close();
  }
}

export function ask(pod: RunningService, matchId: string, user: string, method: string, call: string): Promise<Response> {
  return fetch(`${pod.url}/api/v1/queue/${matchId}/${call}`, { method, headers: { 'x-mock-user-id': user } });
}

/** What those who do nothing wrong feel meanwhile: a heartbeat each every 1.2 s, and how long its answer takes. */
export class CalmFans {
  readonly latenciesMs: number[] = [];
  #isOver = false;
  readonly #beating: Promise<void[]>;

  private constructor(readonly sockets: readonly FanSocket[]) {
    this.#beating = Promise.all(sockets.map((socket, at) => this.#beat(socket, at)));
  }

  static async begin(scene: QueueScene, pod: RunningService, matchId: string, count: number): Promise<CalmFans> {
    const sockets = (await scene.crowd(pod, matchId, count)).map(({ token }) => scene.socket(pod, token));
    for (const socket of sockets) await socket.next('position_update');
    return new CalmFans(sockets);
  }

  get p99Ms(): number {
    const sorted = this.latenciesMs.toSorted((a, b) => a - b);
    return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? Infinity);
  }

  get areConnected(): boolean {
    return this.sockets.every(({ socket }) => socket.readyState === socket.OPEN);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#beating;
  }

  async #beat(socket: FanSocket, at: number): Promise<void> {
    await sleep((1200 * at) / this.sockets.length);
    while (!this.#isOver) {
      const from = performance.now();
      socket.send({ type: 'heartbeat' });
      await socket.next('heartbeat_ack', 10_000).catch(() => undefined);
      this.latenciesMs.push(performance.now() - from);
      await sleep(1200);
    }
  }
}
