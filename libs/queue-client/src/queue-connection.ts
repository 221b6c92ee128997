import { isLast, type PositionAnswer, type QueueMessage } from './queue-messages.ts';
import {
  openSocket,
  openStream,
  startPolling,
  type SocketLike,
  type Transport,
  type TransportEnd,
  type TransportListener,
} from './transports.ts';

/**
 * The states of a QueueConnection. `live`: messages arrive. `resting`: it waits before it reconnects. `over`: it never
 * reconnects.
 */
export type ConnectionState = 'connecting' | 'live' | 'resting' | 'over';
/**
 * Why a QueueConnection is over. `ended`: a final message came. `rejoin`: the fan must join again. `refused`: the server does not
 * accept it.
 */
export type ConnectionEnd = 'rejoin' | 'left' | 'replaced' | 'refused' | 'ended';

/** What a QueueConnection reports to its owner: messages, changes of its state, and its end. */
export interface ConnectionListener {
  message(message: QueueMessage): void;
  link(link: ConnectionState): void;
  over(end: ConnectionEnd): void;
}

/**
 * How to reach the fan's queue entry, from the answer of join. `readPosition` rejects with `status` 404 when the entry does not
 * exist.
 */
export interface LineAccess {
  readonly websocketUrl: string;
  readonly sseUrl: string;
  readPosition(signal: AbortSignal): Promise<PositionAnswer>;
}

/**
 * Functions that a QueueConnection takes from its environment, so that tests can replace them. The defaults work in browsers and
 * in Node.
 */
export interface ClientEnvironment {
  readonly openWebSocket?: (url: string) => SocketLike;
  readonly fetch?: typeof fetch;
  readonly random?: () => number;
  /** Registers a callback for when the network or the page is available again. Returns a function that unregisters it. */
  readonly onWake?: (wake: () => void) => () => void;
}

type TransportKind = 'socket' | 'stream' | 'polling';

const maxFailuresPerTransport = 3;
const minBackoffMs = 1_000;
const maxBackoffMs = 30_000;
const socketRetryMs = 120_000;

/**
 * Keeps one fan connected to the waiting room, and reconnects after network failures.
 *
 *            start                      first message
 *              │      ┌────────────┐ ──────────────────► ┌──────┐
 *              └────► │ connecting │                     │ live │ ◄─┐ messages
 *              ┌────► └─────┬──────┘                     └──┬───┘ ──┘
 *        timer │            │ lost                          │ lost (network, silence, close 4000–4499)
 *              │      ┌─────▼──────┐ ◄──────────────────────┘
 *              └───── │  resting   │   full jitter: random(0..1) × min(30 s, 1 s × 2^failures), after the delay that the server asked for
 *                     └────────────┘
 *   any ── final message (queue closed, turn expired, turn completed) ─► over, `ended`
 *   any ── close 4501, or a poll answered 404 ─► over, `rejoin`: the fan must join again
 *   any ── close 4505 ─► over, `left` · 4507 ─► over, `replaced` · other ≥ 4500 ─► over, `refused`
 *
 * Transports: first the socket; after three failures in a row without a message the event stream; after three more polling. Two
 * minutes after each change of the transport the connection tries the socket again. So a proxy that blocks WebSockets costs a fan
 * some seconds, but not the queue entry: each of the three transports keeps the fan present. Runs in browsers and in Node.
 */
export class QueueConnection {
  private transportKind: TransportKind = 'socket';
  private failures = 0;
  private transport: Transport | undefined;
  private reconnectTimer: ReturnType<typeof setTimeout> | undefined;
  private socketRetryTimer: ReturnType<typeof setTimeout> | undefined;
  private state: ConnectionState = 'resting';
  private unregisterWake: () => void = () => undefined;

  constructor(
    private readonly line: LineAccess,
    private readonly listener: ConnectionListener,
    private readonly environment: ClientEnvironment = {},
  ) {}

  start(): void {
    this.unregisterWake = this.environment.onWake?.(() => this.wake()) ?? this.unregisterWake;
    this.connect();
  }

  stop(): void {
    this.setState('over');
    this.unregisterWake();
    clearTimeout(this.reconnectTimer);
    clearTimeout(this.socketRetryTimer);
    this.transport?.close();
    this.transport = undefined;
  }

  private connect(): void {
    clearTimeout(this.reconnectTimer);
    this.transport?.close();
    this.setState('connecting');
    try {
      this.transport = this.open();
    } catch {
      // A browser throws for a URL that it refuses, such as ws: from an https: page.
      this.reconnectLater({});
    }
  }

  private open(): Transport {
    const { openWebSocket = (url) => new WebSocket(url) as unknown as SocketLike, fetch: get = fetch } = this.environment;
    const listener: TransportListener = { message: (message) => this.receive(message), ended: (end) => this.ended(end) };
    if (this.transportKind === 'socket') return openSocket(openWebSocket(this.line.websocketUrl), listener);
    if (this.transportKind === 'stream') return openStream(this.line.sseUrl, listener, get);
    return startPolling((signal) => this.line.readPosition(signal), listener);
  }

  private receive(message: QueueMessage): void {
    if (this.state === 'over') return;
    if (message.type !== 'delayed') {
      this.failures = 0;
      this.setState('live');
      if (this.transportKind === 'socket') clearTimeout(this.socketRetryTimer);
    }
    this.listener.message(message);
    if (isLast(message)) this.finish('ended');
  }

  private ended(end: TransportEnd): void {
    if (this.state === 'over') return;
    this.transport = undefined;
    if (end.kind === 'unknown_token') return this.finish('rejoin');
    if (end.kind === 'lost') return this.reconnectLater(end);
    if (end.code === 4505) return this.finish('left');
    if (end.code === 4507) return this.finish('replaced');
    // Close code 4506 without a final message means that the message was lost. A poll of the position tells how the entry ended.
    if (end.code === 4506) return this.switchTo('polling');
    this.finish('refused');
  }

  private reconnectLater({ retryAfterMs }: { retryAfterMs?: number }): void {
    this.failures += 1;
    if (retryAfterMs === undefined && this.failures >= maxFailuresPerTransport && this.transportKind !== 'polling') {
      return this.switchTo(this.transportKind === 'socket' ? 'stream' : 'polling');
    }
    const { random = Math.random } = this.environment;
    const maxDelayMs = Math.min(maxBackoffMs, minBackoffMs * 2 ** this.failures);
    this.setState('resting');
    clearTimeout(this.reconnectTimer);
    this.reconnectTimer = setTimeout(() => this.connect(), (retryAfterMs ?? 0) + random() * maxDelayMs);
  }

  private switchTo(kind: TransportKind): void {
    this.transportKind = kind;
    this.failures = 0;
    clearTimeout(this.socketRetryTimer);
    this.socketRetryTimer = setTimeout(() => this.retrySocket(), socketRetryMs);
    this.connect();
  }

  private retrySocket(): void {
    this.transportKind = 'socket';
    this.failures = maxFailuresPerTransport - 1;
    this.connect();
  }

  private finish(end: ConnectionEnd): void {
    this.stop();
    this.listener.over(end);
  }

  private setState(link: ConnectionState): void {
    if (this.state === link || this.state === 'over') return;
    this.state = link;
    this.listener.link(link);
  }

  private wake(): void {
    if (this.state === 'resting') this.connect();
    else this.transport?.check();
  }
}
