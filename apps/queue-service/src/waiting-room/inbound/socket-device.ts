import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { closeCodes } from '#contracts/socket-messages';
import { MessageRateLimiter } from '../domain/message-rate-limiter.ts';
import type { Device, DisconnectReason } from '../application/device.ts';
import { textFrame } from './text-frame.ts';
import { writeDirectly } from './direct-write.ts';

/** Above this much unsent data a client misses skippable messages. */
const SLOW_CLIENT_BYTES = 64 * 1024;
/** Above this much unsent data a client is disconnected, so that it cannot fill the server's memory. */
const MAX_UNSENT_BYTES = 256 * 1024;

/** One WebSocket of a fan. */
export class SocketDevice implements Device {
  private messages: MessageRateLimiter | undefined;
  private pings: MessageRateLimiter | undefined;
  /** Set when the kernel took only a part of a direct write: from then on all messages go through the stream. */
  private usesStream = false;

  constructor(
    readonly id: string,
    readonly socket: WebSocket,
    /** When the client last sent a message, ping or pong, in monotonic milliseconds. */
    public lastReceivedAtMs: number,
  ) {}

  /**
   * False when the client exceeds the rate limit. A limiter is created at the first message, because most clients send none for a
   * long time.
   */
  mayReceive(kind: 'message' | 'ping', nowMs: number): boolean {
    const limiter = kind === 'message' ? (this.messages ??= new MessageRateLimiter()) : (this.pings ??= new MessageRateLimiter());
    return limiter.take(nowMs);
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  send(text: string, kind: 'skippable' | 'required'): void {
    const { socket } = this;
    if (socket.readyState !== WebSocket.OPEN) return;
    const connection = (socket as unknown as { _socket?: Socket })._socket;
    // Without compression ws buffers nothing itself: all unsent data is in the stream.
    const unsent = connection?.writableLength ?? 0;
    // Not close(): it would wait until the client has read all unsent data.
    if (unsent > MAX_UNSENT_BYTES) return socket.terminate();
    if (kind === 'skippable' && unsent > SLOW_CLIENT_BYTES) return;
    const frame = textFrame(text);
    if (frame === undefined || !connection) socket.send(text, ignore);
    else if (unsent > 0 || this.usesStream) connection.write(frame, 'latin1');
    else this.writeDirectly(connection, frame);
  }

  private writeDirectly(connection: Socket, frame: string): void {
    const outcome = writeDirectly(connection, frame);
    if (outcome === 'in_part') this.usesStream = true;
    if (outcome === 'failed') this.socket.terminate();
  }

  close(reason: DisconnectReason): void {
    this.closeWithCode(
      closeCodes[reason.kind],
      reason.kind === 'draining' ? JSON.stringify({ retry_after_ms: reason.retryAfterMs }) : undefined,
    );
  }

  closeWithCode(code: number, text?: string): void {
    if (this.isOpen) this.socket.close(code, text);
  }
}

function ignore(): void {
  // After a failed send the socket's 'close' event follows. Its handler removes the connection.
}
