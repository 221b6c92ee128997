import { WebSocket } from 'ws';
import type { AddressConnections } from './connection-budget.ts';
import type { SocketDevice } from './socket-device.ts';

/** The handlers of the events of all sockets. */
export interface SocketEvents {
  message(socket: FanSocket, data: Buffer, isBinary: boolean): void;
  ping(socket: FanSocket, data: Buffer): void;
  pong(socket: FanSocket): void;
  close(socket: FanSocket): void;
}

/**
 * A `ws` socket that passes its events to one handler object, which all sockets share. Five listeners per socket would cost 256 bytes
 * for each of 18,000 sockets, a tenth of the memory of a connection.
 */
export class FanSocket extends WebSocket {
  device: SocketDevice | undefined;
  ofAddress: AddressConnections | undefined;
  private events: SocketEvents | undefined;

  listen(events: SocketEvents): void {
    this.events = events;
  }

  /** Passes an event to the handlers. The event 'error' is ignored, because 'close' always follows it. */
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
