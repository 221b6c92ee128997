import type { BeforeApplicationShutdown } from '@nestjs/common';
import { WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import { closeCodes } from '#contracts/socket-messages';
import { NewConnections } from '../application/new-connections.ts';
import { readClientMessage } from './client-messages.ts';
import { ConnectionBudget } from './connection-budget.ts';
import type { FanSocket, SocketEvents } from './fan-socket.ts';
import { nowMs, Pod } from './pod.ts';
import { SocketDevice } from './socket-device.ts';

const HEARTBEAT_ACK = JSON.stringify({ type: 'heartbeat_ack' });
const UNKNOWN_TYPE = JSON.stringify({ type: 'error', code: 'UNKNOWN_MESSAGE_TYPE' });

/** A client that sends nothing for this long, not even a pong, is disconnected. With a ping every 25 s this happens within 150 s. */
const MAX_SILENCE_MS = 120_000;
/** How long clients may take to answer our close frame before their sockets are destroyed. */
const CLOSE_TIMEOUT_MS = 3000;
/**
 * Clients of a pod that shuts down reconnect at random times, over a period of 4 ms per connection: 5,000 clients within 20
 * seconds.
 */
const SPREAD_PER_CONNECTION_MS = 4;
/** The shortest and the longest period over which the clients of a pod that shuts down reconnect. */
const SPREAD_MS = { min: 2000, max: 30_000 };

/**
 * The fans' sockets. All sockets share the handlers of this class. A message of a client costs little: it is counted, its size is
 * checked and it is parsed. The first invalid message closes the connection, with a close code for the kind of fault.
 */
@WebSocketGateway({ path: '/ws' })
export class FanGateway implements OnGatewayConnection<FanSocket>, BeforeApplicationShutdown, SocketEvents {
  constructor(
    private readonly connections: NewConnections,
    private readonly budget: ConnectionBudget,
    private readonly pod: Pod,
  ) {}

  handleConnection(socket: FanSocket, token: string, address: string): void {
    const device = new SocketDevice(this.pod.newDeviceId(), socket, nowMs());
    socket.device = device;
    this.budget.sockets.add(socket);
    socket.ofAddress = this.budget.take(address);
    socket.listen(this);
    void this.connections.connect(device, token, nowMs());
  }

  /** Called every 25 seconds: pings all clients and disconnects those that were silent for too long. */
  pingAll(): void {
    const now = nowMs();
    for (const socket of this.budget.sockets) {
      if (now - socket.device!.lastReceivedAtMs > MAX_SILENCE_MS) socket.terminate();
      else if (socket.device!.isOpen) socket.ping();
    }
  }

  /**
   * Closes all connections, also the streams. Each client gets its own delay before it reconnects. Sockets that clients have not
   * closed in time are destroyed. All periodic tasks have ended before.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.budget.isDraining = true;
    const spreadMs = Math.min(SPREAD_MS.max, Math.max(SPREAD_MS.min, this.budget.open * SPREAD_PER_CONNECTION_MS));
    this.connections.drain(() => 500 + Math.floor(Math.random() * spreadMs));
    const deadlineMs = nowMs() + CLOSE_TIMEOUT_MS;
    while (this.budget.open > 0 && nowMs() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const socket of this.budget.sockets) socket.terminate();
  }

  message({ device }: FanSocket, data: Buffer, isBinary: boolean): void {
    if (!device?.isOpen) return;
    device.lastReceivedAtMs = nowMs();
    if (!device.mayReceive('message', device.lastReceivedAtMs)) return device.closeWithCode(closeCodes.tooManyMessages);
    const message = readClientMessage(data, isBinary);
    if (message.kind === 'refused') device.closeWithCode(message.code);
    else device.send(message.kind === 'heartbeat' ? HEARTBEAT_ACK : UNKNOWN_TYPE, 'required');
  }

  /** Each ping is answered with a pong. Pongs pile up if the client does not read, so pings have the same limit as messages. */
  ping(socket: FanSocket, data: Buffer): void {
    const { device } = socket;
    if (!device?.isOpen) return;
    device.lastReceivedAtMs = nowMs();
    if (device.mayReceive('ping', device.lastReceivedAtMs)) socket.pong(data);
    else device.closeWithCode(closeCodes.tooManyMessages);
  }

  pong({ device }: FanSocket): void {
    if (device) device.lastReceivedAtMs = nowMs();
  }

  close(socket: FanSocket): void {
    if (!this.budget.sockets.delete(socket) || !socket.device || !socket.ofAddress) return;
    this.budget.giveBack(socket.ofAddress);
    this.connections.disconnect(socket.device);
  }
}
