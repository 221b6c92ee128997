import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { closeCodes } from '#contracts/socket-messages';
import { MessageAllowance } from '#domain/waiting-room/message-allowance';
import { Device, type Ending } from '../application/device.ts';
import { textFrame } from './text-frame.ts';

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
    if (!this.isOpen) return;
    const unsent = this.socket.bufferedAmount;
    // Not close(): that waits for everything unsent to be read first.
    if (unsent > LOST_BYTES) return this.socket.terminate();
    if (weight === 'update' && unsent > SLOW_BYTES) return;
    const frame = textFrame(text);
    const connection = (this.socket as unknown as { _socket?: Socket })._socket;
    // Safe beside ws' own writes: without compression it never keeps a frame waiting either.
    if (frame !== undefined && connection) connection.write(frame, 'latin1');
    else this.socket.send(text, ignore);
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
