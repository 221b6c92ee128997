import { Problem } from '../api/problem.ts';
import type { QueuePlace } from '../api/types.ts';
import { placeAsMessage, type QueueMessage, readMessage } from './socket-messages.ts';

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

const heartbeatMs = 60_000;
/** Updates come every 30 s and heartbeats are answered: a socket silent for longer than this is dead. */
const silenceMs = 75_000;
/** After waking up we ask at once and wait this long. */
const checkMs = 8_000;
/** Presence lapses after 120 s without a sign; five polls fit in, so one lost poll costs nothing. */
const pollMs = 20_000;

const heartbeat = JSON.stringify({ type: 'heartbeat' });

export function openSocket(url: string, listener: TransportListener): Transport {
  const socket = new WebSocket(url);
  let silence: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const end = (how: TransportEnd) => {
    if (over) return;
    over = true;
    clearInterval(beats);
    clearTimeout(silence);
    socket.close();
    listener.ended(how);
  };
  const expectLifeWithin = (ms: number) => {
    clearTimeout(silence);
    silence = setTimeout(() => end({ kind: 'lost' }), ms);
  };
  const beat = () => {
    if (socket.readyState === WebSocket.OPEN) socket.send(heartbeat);
  };
  const beats = setInterval(beat, heartbeatMs);
  expectLifeWithin(silenceMs);
  socket.onmessage = (event) => {
    if (over) return;
    expectLifeWithin(silenceMs);
    const message = readMessage(String(event.data));
    if (message) listener.message(message);
  };
  socket.onclose = (event) => end(meaningOfClose(event));
  return {
    check: () => {
      beat();
      expectLifeWithin(checkMs);
    },
    close: () => {
      over = true;
      clearInterval(beats);
      clearTimeout(silence);
      socket.close();
    },
  };
}

/** 4000–4499 and everything the network does comes back; 4500 and above does not; 1009 is our own message too large. */
function meaningOfClose({ code, reason }: CloseEvent): TransportEnd {
  if (code === 4501) return { kind: 'unknown_token' };
  if ((code >= 4500 && code <= 4999) || code === 1009) return { kind: 'refused', code };
  try {
    const { retry_after_ms: retryAfterMs } = JSON.parse(reason) as { retry_after_ms?: unknown };
    return typeof retryAfterMs === 'number' ? { kind: 'lost', retryAfterMs } : { kind: 'lost' };
  } catch {
    return { kind: 'lost' };
  }
}

/** EventSource would come back by itself every 3 s for ever; we close it at the first error and let the state machine decide. */
export function openStream(url: string, listener: TransportListener): Transport {
  const stream = new EventSource(url);
  const close = () => {
    stream.onmessage = null;
    stream.onerror = null;
    stream.close();
  };
  stream.onmessage = (event) => {
    const message = readMessage(String(event.data));
    if (message) listener.message(message);
  };
  stream.onerror = () => {
    close();
    listener.ended({ kind: 'lost' });
  };
  return { check: () => undefined, close };
}

export function startPolling(readPlace: (signal: AbortSignal) => Promise<QueuePlace>, listener: TransportListener): Transport {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = false;
  const poll = async () => {
    if (asking) return;
    asking = true;
    clearTimeout(timer);
    try {
      const place = await readPlace(stop.signal);
      if (stop.signal.aborted) return;
      listener.message(placeAsMessage(place));
    } catch (caught) {
      if (stop.signal.aborted) return;
      // A place we held is gone without a trace: join again. Everything else is a bad moment; the next poll will tell.
      if (caught instanceof Problem && caught.status === 404) return listener.ended({ kind: 'unknown_token' });
      listener.message({ type: 'delayed' });
    } finally {
      asking = false;
    }
    timer = setTimeout(() => void poll(), pollMs * (0.8 + Math.random() * 0.4));
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
