import { WebSocket } from 'ws';
import type { SocketDevice } from './socket-device.ts';

/** What there is to hear of a socket. */
export interface SocketEvents {
  message(socket: FanSocket, data: Buffer, isBinary: boolean): void;
  ping(socket: FanSocket, data: Buffer): void;
  pong(socket: FanSocket): void;
  close(socket: FanSocket): void;
}

/**
 * A socket of `ws` that tells what happens to one object common to all sockets. Five listeners of its own are a dictionary of
 * 256 bytes for each of 18,000, a tenth of what a connection costs.
 */
export class FanSocket extends WebSocket {
  device: SocketDevice | undefined;
  private events: SocketEvents | undefined;

  listen(events: SocketEvents): void {
    this.events = events;
  }

  /** 'error' is told to nobody: 'close' follows every one and does the rest. */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    const { events } = this;
    if (!events) return super.emit(event, ...args);
    if (event === 'message') events.message(this, args[0] as Buffer, args[1] as boolean);
    else if (event === 'ping') events.ping(this, args[0] as Buffer);
    else if (event === 'pong') events.pong(this);
    else if (event === 'close') events.close(this);
    return true;
  }
}
