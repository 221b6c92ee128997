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
 * Keeps one fan connected to the waiting room, whatever the network does.
 *
 *            start                      first message
 *              │      ┌────────────┐ ──────────────────► ┌──────┐
 *              └────► │ connecting │                     │ live │ ◄─┐ messages
 *              ┌────► └─────┬──────┘                     └──┬───┘ ──┘
 *        timer │            │ lost                          │ lost (network, silence, close 4000–4499)
 *              │      ┌─────▼──────┐ ◄──────────────────────┘
 *              └───── │  resting   │   full jitter: random(0..1) × min(30 s, 1 s × 2^failures), after what the server asked for
 *                     └────────────┘
 *   any ── last message of the line (closed, expired, completed) ─► over
 *   any ── close 4501, or a poll that finds no place ─────────────► over, `rejoin`
 *   any ── close 4505 ─► over, `left` · 4507 ─► over, `replaced` · other ≥ 4500 ─► over, `refused`
 *
 * Transport: socket; after three failures in a row without a message the event stream; after three more polling. From
 * there, every two minutes, the socket gets one more chance. Proxies that eat WebSockets therefore cost a fan some
 * seconds, not the place: presence is kept by any of the three. Runs in browsers and in Node.
 */
export type Link = 'connecting' | 'live' | 'resting' | 'over';
export type ConnectionEnd = 'rejoin' | 'left' | 'replaced' | 'refused' | 'ended';

export interface ConnectionListener {
  message(message: QueueMessage): void;
  link(link: Link): void;
  over(why: ConnectionEnd): void;
}

/** Where the fan waits, as join has answered. `readPosition` rejects with a `status` of 404 when there is no place any more. */
export interface LineAccess {
  readonly websocketUrl: string;
  readonly sseUrl: string;
  readPosition(signal: AbortSignal): Promise<PositionAnswer>;
}

/** What the surroundings offer; the defaults are those of browsers and of Node. */
export interface Surroundings {
  readonly openWebSocket?: (url: string) => SocketLike;
  readonly fetch?: typeof fetch;
  readonly random?: () => number;
  /** Calls back when the network has returned or the phone was taken out of the pocket; returns how to stop that. */
  readonly onWake?: (wake: () => void) => () => void;
}

type Way = 'socket' | 'stream' | 'polling';

const failuresPerWay = 3;
const firstRestMs = 1_000;
const longestRestMs = 30_000;
const climbMs = 120_000;

export class QueueConnection {
  private way: Way = 'socket';
  private failures = 0;
  private transport: Transport | undefined;
  private rest: ReturnType<typeof setTimeout> | undefined;
  private climb: ReturnType<typeof setTimeout> | undefined;
  private state: Link = 'resting';
  private stopWaking: () => void = () => undefined;
  private readonly line: LineAccess;
  private readonly listener: ConnectionListener;
  private readonly surroundings: Surroundings;

  constructor(line: LineAccess, listener: ConnectionListener, surroundings: Surroundings = {}) {
    this.line = line;
    this.listener = listener;
    this.surroundings = surroundings;
  }

  start(): void {
    this.stopWaking = this.surroundings.onWake?.(() => this.wake()) ?? this.stopWaking;
    this.connect();
  }

  stop(): void {
    this.move('over');
    this.stopWaking();
    clearTimeout(this.rest);
    clearTimeout(this.climb);
    this.transport?.close();
    this.transport = undefined;
  }

  private connect(): void {
    clearTimeout(this.rest);
    this.transport?.close();
    this.move('connecting');
    try {
      this.transport = this.open();
    } catch {
      // A browser throws for an address it will not open at all, such as ws: from an https: page.
      this.lost({});
    }
  }

  private open(): Transport {
    const { openWebSocket = (url) => new WebSocket(url) as unknown as SocketLike, fetch: get = fetch } = this.surroundings;
    const listener: TransportListener = { message: (message) => this.hear(message), ended: (end) => this.ended(end) };
    if (this.way === 'socket') return openSocket(openWebSocket(this.line.websocketUrl), listener);
    if (this.way === 'stream') return openStream(this.line.sseUrl, listener, get);
    return startPolling((signal) => this.line.readPosition(signal), listener);
  }

  private hear(message: QueueMessage): void {
    if (this.state === 'over') return;
    if (message.type !== 'delayed') {
      this.failures = 0;
      this.move('live');
      if (this.way === 'socket') clearTimeout(this.climb);
    }
    this.listener.message(message);
    if (isLast(message)) this.finish('ended');
  }

  private ended(end: TransportEnd): void {
    if (this.state === 'over') return;
    this.transport = undefined;
    if (end.kind === 'unknown_token') return this.finish('rejoin');
    if (end.kind === 'lost') return this.lost(end);
    if (end.code === 4505) return this.finish('left');
    if (end.code === 4507) return this.finish('replaced');
    // 4506 without its last message: the message was lost with the connection, and position still tells how it ended.
    if (end.code === 4506) return this.fallTo('polling');
    this.finish('refused');
  }

  private lost({ retryAfterMs }: { retryAfterMs?: number }): void {
    this.failures += 1;
    if (retryAfterMs === undefined && this.failures >= failuresPerWay && this.way !== 'polling') {
      return this.fallTo(this.way === 'socket' ? 'stream' : 'polling');
    }
    const { random = Math.random } = this.surroundings;
    const longest = Math.min(longestRestMs, firstRestMs * 2 ** this.failures);
    this.move('resting');
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.connect(), (retryAfterMs ?? 0) + random() * longest);
  }

  private fallTo(way: Way): void {
    this.way = way;
    this.failures = 0;
    clearTimeout(this.climb);
    this.climb = setTimeout(() => this.tryTheSocketAgain(), climbMs);
    this.connect();
  }

  private tryTheSocketAgain(): void {
    this.way = 'socket';
    this.failures = failuresPerWay - 1;
    this.connect();
  }

  private finish(why: ConnectionEnd): void {
    this.stop();
    this.listener.over(why);
  }

  private move(link: Link): void {
    if (this.state === link || this.state === 'over') return;
    this.state = link;
    this.listener.link(link);
  }

  private wake(): void {
    if (this.state === 'resting') this.connect();
    else this.transport?.check();
  }
}
