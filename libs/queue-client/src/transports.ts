import { positionAsMessage, readMessage, type PositionAnswer, type QueueMessage } from './queue-messages.ts';

/**
 * How a transport ended. `lost`: the client reconnects. `refused`: the client must not reconnect. `unknown_token`: the fan must
 * join again.
 */
export type TransportEnd =
  { kind: 'lost'; retryAfterMs?: number } | { kind: 'refused'; code: number } | { kind: 'unknown_token' };

/** Receives the messages of a transport and, once, its end. */
export interface TransportListener {
  message(message: QueueMessage): void;
  ended(end: TransportEnd): void;
}

/**
 * One open way to receive messages: a socket, an event stream or polling. `check` tests it at once, for example after the phone
 * woke up.
 */
export interface Transport {
  check(): void;
  close(): void;
}

/** The part of a WebSocket that this client uses. The WebSockets of browsers, of Node and of `ws` all match it. */
export interface SocketLike {
  readonly readyState: number;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}

const OPEN = 1;
const heartbeatIntervalMs = 60_000;
/** A socket without a message for this long counts as lost: updates come every 30 s, and heartbeats are acknowledged. */
const socketTimeoutMs = 75_000;
/** After `check` a socket counts as lost if no message arrives within this time. */
const checkTimeoutMs = 8_000;
/** An event stream without data for this long counts as lost: the server sends a comment every 15 s. */
const streamTimeoutMs = 40_000;
/** Time between polls, ± 20 %. Presence ends after 120 s without a poll, so a few lost polls do no harm. */
const pollIntervalMs = 20_000;

const heartbeat = JSON.stringify({ type: 'heartbeat' });

/** Tells the listener that a transport has ended, at most once. Ends a transport that has received nothing for too long. */
class TransportLifetime {
  private timeout: ReturnType<typeof setTimeout> | undefined;
  isOver = false;

  constructor(
    private readonly listener: TransportListener,
    private readonly release: () => void,
  ) {}

  expectWithin(ms: number): void {
    clearTimeout(this.timeout);
    if (!this.isOver) this.timeout = setTimeout(() => this.end({ kind: 'lost' }), ms);
  }

  receive(text: string): void {
    const message = this.isOver ? undefined : readMessage(text);
    if (message) this.listener.message(message);
  }

  end(end: TransportEnd): void {
    if (this.isOver) return;
    this.close();
    this.listener.ended(end);
  }

  close(): void {
    this.isOver = true;
    clearTimeout(this.timeout);
    this.release();
  }
}

/** Uses a WebSocket as a transport: sends heartbeats, and reports messages and the end of the socket. */
export function openSocket(socket: SocketLike, listener: TransportListener): Transport {
  const beat = () => {
    if (socket.readyState === OPEN) socket.send(heartbeat);
  };
  const beats = setInterval(beat, heartbeatIntervalMs);
  const lifetime = new TransportLifetime(listener, () => {
    clearInterval(beats);
    socket.close();
  });
  lifetime.expectWithin(socketTimeoutMs);
  socket.onmessage = ({ data }) => {
    lifetime.expectWithin(socketTimeoutMs);
    lifetime.receive(String(data));
  };
  socket.onclose = (event) => lifetime.end(meaningOfClose(event));
  // A 'close' event follows. Without this listener `ws` would throw.
  socket.onerror = () => undefined;
  return {
    check: () => {
      beat();
      lifetime.expectWithin(checkTimeoutMs);
    },
    close: () => lifetime.close(),
  };
}

/**
 * What a close code means: after 4500–4999 and 1009 (our message was too large) the client must not reconnect, after all other
 * codes it reconnects.
 */
export function meaningOfClose({ code, reason }: { code: number; reason: string }): TransportEnd {
  if (code === 4501) return { kind: 'unknown_token' };
  if ((code >= 4500 && code <= 4999) || code === 1009) return { kind: 'refused', code };
  try {
    const { retry_after_ms: retryAfterMs } = JSON.parse(reason) as { retry_after_ms?: unknown };
    return typeof retryAfterMs === 'number' ? { kind: 'lost', retryAfterMs } : { kind: 'lost' };
  } catch {
    return { kind: 'lost' };
  }
}

/**
 * Reads the event stream with fetch. EventSource reconnects every 3 s for ever, hides the HTTP status, and does not exist in
 * Node.
 */
export function openStream(url: string, listener: TransportListener, get: typeof fetch): Transport {
  const stop = new AbortController();
  const lifetime = new TransportLifetime(listener, () => stop.abort());
  lifetime.expectWithin(streamTimeoutMs);
  void get(url, { headers: { accept: 'text/event-stream' }, signal: stop.signal, cache: 'no-store' })
    .then((response) => readStream(response, lifetime))
    .catch(() => lifetime.end({ kind: 'lost' }));
  return { check: () => undefined, close: () => lifetime.close() };
}

async function readStream(response: Response, lifetime: TransportLifetime): Promise<void> {
  // 404: the token has ended or was never issued. After the code 4506 QueueConnection polls the position, and the answer tells
  // which of the two is true.
  if (response.status === 404) return lifetime.end({ kind: 'refused', code: 4506 });
  if (!response.ok || !response.body) {
    const seconds = Number(response.headers.get('retry-after'));
    return lifetime.end(seconds > 0 ? { kind: 'lost', retryAfterMs: seconds * 1000 } : { kind: 'lost' });
  }
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let rest = '';
  let [hasMessage, retryAfterMs]: [boolean, number | undefined] = [false, undefined];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    lifetime.expectWithin(streamTimeoutMs);
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: ')) {
        hasMessage = true;
        lifetime.receive(line.slice(6));
      }
      // The first `retry:` is the default delay. A `retry:` after a message is the delay for this fan from a pod that shuts down.
      if (line.startsWith('retry: ') && hasMessage) retryAfterMs = Number(line.slice(7));
    }
  }
  lifetime.end(retryAfterMs === undefined ? { kind: 'lost' } : { kind: 'lost', retryAfterMs });
}

/** Reads the position about every 20 s as a transport: each answer is reported as a message. */
export function startPolling(
  readPosition: (signal: AbortSignal) => Promise<PositionAnswer>,
  listener: TransportListener,
): Transport {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const lifetime = new TransportLifetime(listener, () => {
    stop.abort();
    clearTimeout(timer);
  });
  let isPolling = false;
  const poll = async () => {
    if (isPolling || lifetime.isOver) return;
    isPolling = true;
    clearTimeout(timer);
    try {
      const answer = await readPosition(stop.signal);
      if (!lifetime.isOver) listener.message(positionAsMessage(answer));
    } catch (caught) {
      if (lifetime.isOver) return;
      // 404: the queue entry no longer exists, so the fan must join again. After any other error the next poll tries again.
      if ((caught as { status?: unknown } | undefined)?.status === 404) return lifetime.end({ kind: 'unknown_token' });
      listener.message({ type: 'delayed' });
    } finally {
      isPolling = false;
    }
    if (!lifetime.isOver) timer = setTimeout(() => void poll(), pollIntervalMs * (0.8 + Math.random() * 0.4));
  };
  void poll();
  return { check: () => void poll(), close: () => lifetime.close() };
}
