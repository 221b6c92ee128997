import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { closeCodes } from '#contracts/socket-messages';
import { MessageAllowance } from '../domain/message-allowance.ts';
import { Device, type Ending } from '../application/device.ts';
import { textFrame } from './text-frame.ts';
import { writePast } from './write-past.ts';

/** Behind this much unsent data a reader is slow and misses updates, behind that much it is cut off (SEC-14). */
const SLOW_BYTES = 64 * 1024;
const LOST_BYTES = 256 * 1024;

const codes = {
  draining: closeCodes.draining,
  unknown_token: closeCodes.unknownToken,
  left: closeCodes.left,
  over: closeCodes.over,
  replaced: closeCodes.replacedByNewerDevice,
} as const satisfies Record<Ending['why'], number>;

/** One WebSocket of a fan. */
export class SocketDevice extends Device {
  private messages: MessageAllowance | undefined;
  private pings: MessageAllowance | undefined;
  /** Was once too slow for the kernel's buffer: everything to it is counted. */
  private isCounted = false;

  constructor(
    override readonly id: string,
    readonly socket: WebSocket,
    /** Monotonic; when the peer last gave a sign of life. */
    public heardAtMs: number,
  ) {
    super();
  }

  /** Made at the first message: most fans only listen for a long time. */
  mayHear(what: 'message' | 'ping', nowMs: number): boolean {
    const allowance = what === 'message' ? (this.messages ??= new MessageAllowance()) : (this.pings ??= new MessageAllowance());
    return allowance.take(nowMs);
  }

  override get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  override tell(text: string, weight: 'update' | 'needed'): void {
    const { socket } = this;
    if (socket.readyState !== WebSocket.OPEN) return;
    const connection = (socket as unknown as { _socket?: Socket })._socket;
    // Without compression ws itself keeps nothing back: what is unsent is in the stream.
    const unsent = connection?.writableLength ?? 0;
    // Not close(): that waits for everything unsent to be read first.
    if (unsent > LOST_BYTES) return socket.terminate();
    if (weight === 'update' && unsent > SLOW_BYTES) return;
    const frame = textFrame(text);
    if (frame === undefined || !connection) socket.send(text, ignore);
    else if (unsent > 0 || this.isCounted) connection.write(frame, 'latin1');
    else this.writePast(connection, frame);
  }

  private writePast(connection: Socket, frame: string): void {
    const written = writePast(connection, frame);
    if (written === 'in_part') this.isCounted = true;
    if (written === 'failed') this.socket.terminate();
  }

  override end(ending: Ending): void {
    this.close(
      codes[ending.why],
      ending.why === 'draining' ? JSON.stringify({ retry_after_ms: ending.retryAfterMs }) : undefined,
    );
  }

  close(code: number, reason?: string): void {
    if (this.isOpen) this.socket.close(code, reason);
  }
}

function ignore(): void {
  // A send that fails belongs to a socket whose close event follows.
}
