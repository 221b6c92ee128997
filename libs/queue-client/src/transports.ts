import { positionAsMessage, readMessage, type PositionAnswer, type QueueMessage } from './queue-messages.ts';

/** How a transport ended: `lost` may come back, `refused` must not, `unknown_token` means join again. */
export type TransportEnd =
  { kind: 'lost'; retryAfterMs?: number } | { kind: 'refused'; code: number } | { kind: 'unknown_token' };

export interface TransportListener {
  message(message: QueueMessage): void;
  ended(end: TransportEnd): void;
}

/** An open transport. `check` asks for a sign of life, e.g. after the phone woke up. */
export interface Transport {
  check(): void;
  close(): void;
}

/** As much of a WebSocket as we use: the browser's, Node's and that of `ws` all are one. */
export interface SocketLike {
  readonly readyState: number;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}

const OPEN = 1;
const heartbeatMs = 60_000;
/** Updates come every 30 s and heartbeats are answered: a socket silent for longer than this is dead. */
const silenceMs = 75_000;
/** After waking up we ask at once and wait this long. */
const checkMs = 8_000;
/** The stream breathes every 15 s. */
const streamSilenceMs = 40_000;
/** Presence lapses after 120 s without a sign; five polls fit in, so one lost poll costs nothing. */
const pollMs = 20_000;

const heartbeat = JSON.stringify({ type: 'heartbeat' });

/** Ends at most once, whatever the transport says afterwards, and when nothing is heard for too long. */
class Lifeline {
  private silence: ReturnType<typeof setTimeout> | undefined;
  isOver = false;

  constructor(
    private readonly listener: TransportListener,
    private readonly letGo: () => void,
  ) {}

  expectWithin(ms: number): void {
    clearTimeout(this.silence);
    if (!this.isOver) this.silence = setTimeout(() => this.end({ kind: 'lost' }), ms);
  }

  hear(text: string): void {
    const message = this.isOver ? undefined : readMessage(text);
    if (message) this.listener.message(message);
  }

  end(how: TransportEnd): void {
    if (this.isOver) return;
    this.close();
    this.listener.ended(how);
  }

  close(): void {
    this.isOver = true;
    clearTimeout(this.silence);
    this.letGo();
  }
}

export function openSocket(socket: SocketLike, listener: TransportListener): Transport {
  const beat = () => {
    if (socket.readyState === OPEN) socket.send(heartbeat);
  };
  const beats = setInterval(beat, heartbeatMs);
  const life = new Lifeline(listener, () => {
    clearInterval(beats);
    socket.close();
  });
  life.expectWithin(silenceMs);
  socket.onmessage = ({ data }) => {
    life.expectWithin(silenceMs);
    life.hear(String(data));
  };
  socket.onclose = (event) => life.end(meaningOfClose(event));
  // 'close' follows; without a listener `ws` would throw.
  socket.onerror = () => undefined;
  return {
    check: () => {
      beat();
      life.expectWithin(checkMs);
    },
    close: () => life.close(),
  };
}

/** 4000–4499 and everything the network does comes back; 4500 and above does not; 1009 is our own message too large. */
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

/** Read with fetch, not EventSource: that comes back every 3 s for ever, hides the status, and Node has none. */
export function openStream(url: string, listener: TransportListener, get: typeof fetch): Transport {
  const stop = new AbortController();
  const life = new Lifeline(listener, () => stop.abort());
  life.expectWithin(streamSilenceMs);
  void readStream(url, { life, get, signal: stop.signal }).catch(() => life.end({ kind: 'lost' }));
  return { check: () => undefined, close: () => life.close() };
}

interface Reading {
  readonly life: Lifeline;
  readonly get: typeof fetch;
  readonly signal: AbortSignal;
}

async function readStream(url: string, { life, get, signal }: Reading): Promise<void> {
  const response = await get(url, { headers: { accept: 'text/event-stream' }, signal, cache: 'no-store' });
  // The token is over or was never good; `position` tells which.
  if (response.status === 404) return life.end({ kind: 'refused', code: 4506 });
  if (!response.ok || !response.body) {
    const seconds = Number(response.headers.get('retry-after'));
    return life.end(seconds > 0 ? { kind: 'lost', retryAfterMs: seconds * 1000 } : { kind: 'lost' });
  }
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let rest = '';
  let [hasSpoken, retryAfterMs]: [boolean, number | undefined] = [false, undefined];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    life.expectWithin(streamSilenceMs);
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: ')) {
        hasSpoken = true;
        life.hear(line.slice(6));
      }
      // The first one is the usual pause; a later one is this fan's own, from a pod on its way out.
      if (line.startsWith('retry: ') && hasSpoken) retryAfterMs = Number(line.slice(7));
    }
  }
  life.end(retryAfterMs === undefined ? { kind: 'lost' } : { kind: 'lost', retryAfterMs });
}

export function startPolling(
  readPosition: (signal: AbortSignal) => Promise<PositionAnswer>,
  listener: TransportListener,
): Transport {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = false;
  const poll = async () => {
    if (asking || stop.signal.aborted) return;
    asking = true;
    clearTimeout(timer);
    try {
      const place = await readPosition(stop.signal);
      if (stop.signal.aborted) return;
      listener.message(positionAsMessage(place));
    } catch (caught) {
      if (stop.signal.aborted) return;
      // A place we held is gone without a trace: join again. Everything else is a bad moment; the next poll will tell.
      if ((caught as { status?: unknown } | undefined)?.status === 404) {
        stop.abort();
        return listener.ended({ kind: 'unknown_token' });
      }
      listener.message({ type: 'delayed' });
    } finally {
      asking = false;
    }
    if (!stop.signal.aborted) timer = setTimeout(() => void poll(), pollMs * (0.8 + Math.random() * 0.4));
  };
  void poll();
  return {
    check: () => void poll(),
    close: () => {
      stop.abort();
      clearTimeout(timer);
    },
  };
}
