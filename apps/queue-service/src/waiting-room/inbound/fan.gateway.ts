import { WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import { closeCodes } from '#contracts/socket-messages';
import { TellFans } from '../application/tell-fans.ts';
import { readClientMessage } from './client-messages.ts';
import { ConnectionBudget } from './connection-budget.ts';
import type { FanSocket, SocketEvents } from './fan-socket.ts';
import { nowMs, Pod } from './pod.ts';
import { SocketDevice } from './socket-device.ts';

const HEARTBEAT_ACK = JSON.stringify({ type: 'heartbeat_ack' });
const UNKNOWN_TYPE = JSON.stringify({ type: 'error', code: 'UNKNOWN_MESSAGE_TYPE' });

/** A peer that neither answers pings nor says anything is gone; with a ping every 25 s it is found within 150 s. */
const SILENCE_MS = 120_000;

/**
 * The fans' sockets. Nothing a client sends costs more than a look at it: messages are counted, measured and parsed by
 * handlers common to all sockets, and the first fault ends the connection with its code.
 */
@WebSocketGateway({ path: '/ws' })
export class FanGateway implements OnGatewayConnection<FanSocket>, SocketEvents {
  private readonly sockets = new Set<FanSocket>();

  constructor(
    private readonly tellFans: TellFans,
    private readonly budget: ConnectionBudget,
    private readonly pod: Pod,
  ) {}

  handleConnection(socket: FanSocket, token: string): void {
    const device = new SocketDevice(this.pod.newDeviceId(), socket, nowMs());
    socket.device = device;
    this.sockets.add(socket);
    this.budget.sockets += 1;
    socket.listen(this);
    void this.tellFans.connect(device, token, nowMs());
  }

  /** Called every 25 seconds: asks everybody for a sign of life and lets go of who has given none. */
  askForLife(): void {
    const now = nowMs();
    for (const socket of this.sockets) {
      if (now - socket.device!.heardAtMs > SILENCE_MS) socket.terminate();
      else if (socket.device!.isOpen) socket.ping();
    }
  }

  /** What is left after everybody had time to go. */
  cutOff(): void {
    for (const socket of this.sockets) socket.terminate();
  }

  message({ device }: FanSocket, data: Buffer, isBinary: boolean): void {
    if (!device?.isOpen) return;
    device.heardAtMs = nowMs();
    if (!device.mayHear('message', device.heardAtMs)) return device.close(closeCodes.tooManyMessages);
    const message = readClientMessage(data, isBinary);
    if (message.kind === 'refused') device.close(message.code);
    else device.tell(message.kind === 'heartbeat' ? HEARTBEAT_ACK : UNKNOWN_TYPE, 'needed');
  }

  /** Each ping is answered with a pong, which piles up for who pings and does not read: as many as messages. */
  ping(socket: FanSocket, data: Buffer): void {
    const { device } = socket;
    if (!device?.isOpen) return;
    device.heardAtMs = nowMs();
    if (device.mayHear('ping', device.heardAtMs)) socket.pong(data);
    else device.close(closeCodes.tooManyMessages);
  }

  pong({ device }: FanSocket): void {
    if (device) device.heardAtMs = nowMs();
  }

  close(socket: FanSocket): void {
    if (!this.sockets.delete(socket)) return;
    this.budget.sockets -= 1;
    if (socket.device) this.tellFans.disconnect(socket.device);
  }
}
