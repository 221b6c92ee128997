import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { developmentSecrets } from '#platform/config/settings';
import { createTestRedis } from '#testing/test-database';
import { TcpProxy } from '#testing/tcp-proxy';
import { FanSocket } from '../../../apps/queue-service/src/waiting-room/testing/fan-socket.ts';
import { startQueueService, type RunningService } from '../../../bench/instruments/service.ts';

/** Records `fault` if the condition is false. The scenario continues. */
export type Check = (isTrue: boolean, fault: string) => void;
/** Numbers and short texts that a scenario reports beside its faults. */
export type Figures = Readonly<Record<string, string | number>>;

/** One fault that queue service pods must survive. Has the same form as `Scenario` in tests/faults/scenario.ts. */
export interface QueueScenario {
  readonly id: string;
  readonly title: string;
  run(scene: QueueScene, check: Check): Promise<Figures>;
}

/** A fan in the line, with the queue token that opens the fan's sockets. */
export interface WaitingFan {
  readonly user: string;
  readonly token: string;
}

const INTERNAL = developmentSecrets.INTERNAL_AUTH_SECRET;

/** Queue service pods, started like in production, with their own Redis behind a proxy that can break the network. */
export class QueueScene {
  readonly #pods: RunningService[] = [];
  readonly #sockets: FanSocket[] = [];
  readonly #rawSockets = new Set<net.Socket>();

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

  /**
   * Sends the restore call for a match without turns, as the monolith does for a new match. Until this call the waiting room
   * answers no requests for the match.
   */
  async restoreEmpty(pod: RunningService, matchId: string): Promise<void> {
    await this.control(pod, matchId, { generation: 1, complete: true }, 'restore');
  }

  /** Creates a match with an active line, which by default grants no turns. Returns the match id. */
  async createMatch(pod: RunningService, change: object = { max_open_windows: 0 }): Promise<string> {
    const matchId = randomUUID();
    await this.restoreEmpty(pod, matchId);
    await this.control(pod, matchId, { status: 'active', ...change });
    return matchId;
  }

  async join(pod: RunningService, matchId: string, user: string = randomUUID()): Promise<WaitingFan> {
    const response = await callQueue(pod, matchId, user, 'POST', 'join');
    if (!response.ok) throw new Error(`joining was answered ${response.status}`);
    return { user, token: ((await response.json()) as { queue_token: string }).queue_token };
  }

  /** Lets new fans join, 50 at a time. */
  async joinMany(pod: RunningService, matchId: string, fans: number): Promise<WaitingFan[]> {
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

  /** Opens a TCP connection for raw bytes. With a queue token it does the WebSocket upgrade first. */
  async raw(pod: RunningService, token?: string, headers: readonly string[] = []): Promise<net.Socket> {
    const { hostname, port } = new URL(pod.url);
    const socket = net.connect(Number(port), hostname);
    this.#rawSockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#rawSockets.delete(socket));
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    if (token === undefined) return socket;
    const lines = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', ...headers];
    socket.write(`GET /ws/${token} HTTP/1.1\r\n${lines.join('\r\n')}\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve).once('close', resolve));
    return socket;
  }

  /** Resident memory of a pod in megabytes. */
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
    for (const socket of this.#rawSockets) socket.destroy();
    await Promise.all(this.#pods.map((pod) => pod.stop()));
    await this.network.close();
    await this.redis.flush();
    await this.redis.close();
  }
}

/** Calls a route of the queue service as a fan. `call`: the end of the path, such as `join`. */
export function callQueue(pod: RunningService, matchId: string, user: string, method: string, call: string): Promise<Response> {
  return fetch(`${pod.url}/api/v1/queue/${matchId}/${call}`, { method, headers: { 'x-mock-user-id': user } });
}

/** Fans who behave correctly during a fault. Each sends a heartbeat every 1.2 s and measures how long the answer takes. */
export class WellBehavedFans {
  readonly latenciesMs: number[] = [];
  #isStopped = false;
  readonly #heartbeats: Promise<void[]>;

  private constructor(readonly sockets: readonly FanSocket[]) {
    this.#heartbeats = Promise.all(sockets.map((socket, at) => this.#sendHeartbeats(socket, at)));
  }

  static async connect(scene: QueueScene, pod: RunningService, matchId: string, count: number): Promise<WellBehavedFans> {
    const sockets = (await scene.joinMany(pod, matchId, count)).map(({ token }) => scene.socket(pod, token));
    for (const socket of sockets) await socket.next('position_update');
    return new WellBehavedFans(sockets);
  }

  get p99Ms(): number {
    const sorted = this.latenciesMs.toSorted((a, b) => a - b);
    return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? Infinity);
  }

  get areConnected(): boolean {
    return this.sockets.every(({ socket }) => socket.readyState === socket.OPEN);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#heartbeats;
  }

  async #sendHeartbeats(socket: FanSocket, index: number): Promise<void> {
    await sleep((1200 * index) / this.sockets.length);
    while (!this.#isStopped) {
      const from = performance.now();
      socket.send({ type: 'heartbeat' });
      await socket.next('heartbeat_ack', 10_000).catch(() => undefined);
      this.latenciesMs.push(performance.now() - from);
      await sleep(1200);
    }
  }
}
