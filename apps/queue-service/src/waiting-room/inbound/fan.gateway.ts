import { WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import type { WebSocket } from 'ws';
import { closeCodes } from '#contracts/socket-messages';
import { TellFans } from '../application/tell-fans.ts';
import { readClientMessage } from './client-messages.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { newDeviceId, nowMs } from './pod.ts';
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
export class FanGateway implements OnGatewayConnection<WebSocket> {
  private readonly devices = new Map<WebSocket, SocketDevice>();

  constructor(
    private readonly tellFans: TellFans,
    private readonly budget: ConnectionBudget,
  ) {}

  handleConnection(socket: WebSocket, token: string): void {
    const device = new SocketDevice(newDeviceId(), socket, nowMs());
    this.devices.set(socket, device);
    this.budget.sockets += 1;
    socket.on('message', this.heed);
    socket.on('pong', this.hear);
    socket.on('ping', this.heedPing);
    socket.on('close', this.forget);
    socket.on('error', ignore);
    void this.tellFans.connect(device, token, nowMs());
  }

  /** Called every 25 seconds: asks everybody for a sign of life and lets go of who has given none. */
  ping(): void {
    const now = nowMs();
    for (const [socket, device] of this.devices) {
      if (now - device.heardAtMs > SILENCE_MS) socket.terminate();
      else if (device.isOpen) socket.ping();
    }
  }

  /** What is left after everybody had time to go. */
  cutOff(): void {
    for (const socket of this.devices.keys()) socket.terminate();
  }

  private readonly heed = heedWith(this.devices);
  private readonly heedPing = heedPingWith(this.devices);
  private readonly hear = hearWith(this.devices);

  private readonly forget = forgetWith(this.devices, (device) => {
    this.budget.sockets -= 1;
    this.tellFans.disconnect(device);
  });
}

type Devices = Map<WebSocket, SocketDevice>;

function heedWith(devices: Devices) {
  return function (this: WebSocket, data: Buffer, isBinary: boolean): void {
    const device = devices.get(this);
    if (!device?.isOpen) return;
    device.heardAtMs = nowMs();
    if (!device.mayHear('message', device.heardAtMs)) return device.close(closeCodes.tooManyMessages);
    const message = readClientMessage(data, isBinary);
    if (message.kind === 'refused') device.close(message.code);
    else device.tell(message.kind === 'heartbeat' ? HEARTBEAT_ACK : UNKNOWN_TYPE, 'needed');
  };
}

/** Each ping is answered with a pong, which piles up for who pings and does not read: as many as messages. */
function heedPingWith(devices: Devices) {
  return function (this: WebSocket): void {
    const device = devices.get(this);
    if (!device?.isOpen) return;
    device.heardAtMs = nowMs();
    if (!device.mayHear('ping', device.heardAtMs)) device.close(closeCodes.tooManyMessages);
  };
}

function hearWith(devices: Devices) {
  return function (this: WebSocket): void {
    const device = devices.get(this);
    if (device) device.heardAtMs = nowMs();
  };
}

function forgetWith(devices: Devices, gone: (device: SocketDevice) => void) {
  return function (this: WebSocket): void {
    const device = devices.get(this);
    if (device && devices.delete(this)) gone(device);
  };
}

function ignore(): void {
  // 'close' follows every 'error' and does the rest.
}
