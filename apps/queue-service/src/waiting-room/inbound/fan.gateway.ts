import { WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import { closeCodes } from '#contracts/socket-messages';
import { FanUpdates } from '../application/fan-updates.ts';
import { readClientMessage } from './client-messages.ts';
import { ConnectionBudget } from './connection-budget.ts';
import type { FanSocket, SocketEvents } from './fan-socket.ts';
import { nowMs, Pod } from './pod.ts';
import { SocketDevice } from './socket-device.ts';

const HEARTBEAT_ACK = JSON.stringify({ type: 'heartbeat_ack' });
const UNKNOWN_TYPE = JSON.stringify({ type: 'error', code: 'UNKNOWN_MESSAGE_TYPE' });

/** A client that sends nothing for this long, not even a pong, is disconnected. With a ping every 25 s this happens within 150 s. */
const MAX_SILENCE_MS = 120_000;

/**
 * The fans' sockets. All sockets share the handlers of this class. A message of a client costs little: it is counted, its size is
 * checked and it is parsed. The first invalid message closes the connection, with a close code for the kind of fault.
 */
@WebSocketGateway({ path: '/ws' })
export class FanGateway implements OnGatewayConnection<FanSocket>, SocketEvents {
  private readonly sockets = new Set<FanSocket>();

  constructor(
    private readonly fanUpdates: FanUpdates,
    private readonly budget: ConnectionBudget,
    private readonly pod: Pod,
  ) {}

  handleConnection(socket: FanSocket, token: string): void {
    const device = new SocketDevice(this.pod.newDeviceId(), socket, nowMs());
    socket.device = device;
    this.sockets.add(socket);
    this.budget.sockets += 1;
    socket.listen(this);
    void this.fanUpdates.connect(device, token, nowMs());
  }

  /** Called every 25 seconds: pings all clients and disconnects those that were silent for too long. */
  pingAll(): void {
    const now = nowMs();
    for (const socket of this.sockets) {
      if (now - socket.device!.lastReceivedAtMs > MAX_SILENCE_MS) socket.terminate();
      else if (socket.device!.isOpen) socket.ping();
    }
  }

  /** Destroys the sockets that clients have not closed in time. */
  terminateAll(): void {
    for (const socket of this.sockets) socket.terminate();
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
    if (!this.sockets.delete(socket)) return;
    this.budget.sockets -= 1;
    if (socket.device) this.fanUpdates.disconnect(socket.device);
  }
}
