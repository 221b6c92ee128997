import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { jest } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import type { TellFans } from '../application/tell-fans.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { FanGateway } from './fan.gateway.ts';
import { FanSocket } from './fan-socket.ts';
import { Pod } from './pod.ts';
import { SocketDevice } from './socket-device.ts';
import { StreamDevice } from './stream-device.ts';

const KB = 1024;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A connected pair: what the server holds and what the client holds. */
async function socketPair(options: { autoPong?: boolean } = {}): Promise<[server: FanSocket, client: WebSocket]> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', WebSocket: FanSocket });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
  const [socket] = (await once(server, 'connection')) as [FanSocket];
  await once(client, 'open');
  cleanups.push(() => {
    client.terminate();
    socket.terminate();
    server.close();
  });
  return [socket, client];
}

describe('a reader that has stopped reading', () => {
  test('misses updates once 64 KB wait for it, and is cut off beyond 256 KB', async () => {
    const [socket, client] = await socketPair();
    client.pause();
    const device = new SocketDevice('d', socket, 0);
    const text = 'x'.repeat(16 * KB);
    // The kernel takes some megabytes first.
    for (let message = 0; message < 2000; message += 1) device.tell(text, 'update');
    expect(socket.bufferedAmount).toBeGreaterThan(64 * KB);
    expect(socket.bufferedAmount).toBeLessThan(96 * KB);
    expect(device.isOpen).toBe(true);
    for (let message = 0; message < 20; message += 1) device.tell(text, 'needed');
    expect(device.isOpen).toBe(false);
    await once(socket, 'close');
  });

  test('gets what it was told whole and in order once it reads again, whoever wrote it', async () => {
    const [socket, client] = await socketPair();
    const heard: string[] = [];
    client.on('message', (data) => heard.push((data as Buffer).toString()));
    client.pause();
    const device = new SocketDevice('d', socket, 0);
    const told: string[] = [];
    const tell = (say: (text: string) => void) => {
      const text = `${told.length} ${'x'.repeat(8 * KB)}`;
      told.push(text);
      say(text);
    };
    while (socket.bufferedAmount === 0 && told.length < 4000) tell((text) => device.tell(text, 'needed'));
    expect(socket.bufferedAmount).toBeGreaterThan(0);
    tell((text) => socket.send(text));
    tell((text) => device.tell(text, 'needed'));
    client.resume();
    while (heard.length < told.length) await new Promise(setImmediate);
    for (let message = 0; message < 10; message += 1) tell((text) => device.tell(text, 'needed'));
    while (heard.length < told.length) await new Promise(setImmediate);
    expect(heard.map((text) => Number.parseInt(text, 10))).toEqual([...told.keys()]);
    expect(heard).toEqual(told);
  });

  test('the same for a stream', async () => {
    const server = http.createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const request = http.get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    request.on('error', () => undefined);
    const [, response] = (await once(server, 'request')) as [http.IncomingMessage, http.ServerResponse];
    cleanups.push(() => {
      request.destroy();
      server.closeAllConnections();
      server.close();
    });
    const device = new StreamDevice('d', response);
    const text = 'x'.repeat(16 * KB);
    for (let message = 0; message < 2000; message += 1) device.tell(text, 'update');
    expect(response.writableLength).toBeGreaterThan(64 * KB);
    expect(response.writableLength).toBeLessThan(96 * KB);
    for (let message = 0; message < 20; message += 1) device.tell(text, 'needed');
    expect(device.isOpen).toBe(false);
  });
});

test('telling a connection that is gone harms nobody and ends the socket', async () => {
  const [socket] = await socketPair();
  const device = new SocketDevice('d', socket, 0);
  (socket as unknown as { _socket: Socket })._socket.destroy();
  expect(device.isOpen).toBe(true);
  device.tell('{}', 'needed');
  expect(device.isOpen).toBe(false);
  device.tell('{}', 'needed');
  await once(socket, 'close');
});

test('a peer that gives no sign of life is let go after 120 seconds, one that answers pings is not', async () => {
  let nowMs = 1000;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  cleanups.push(() => clock.mockRestore());
  const nobody = { connect: () => Promise.resolve(), disconnect: () => undefined } as unknown as TellFans;
  const budget = new ConnectionBudget(10);
  const gateway = new FanGateway(nobody, budget, new Pod());
  const [[alive, aliveClient], [dead, deadClient]] = [await socketPair(), await socketPair({ autoPong: false })];
  gateway.handleConnection(alive, 'token');
  gateway.handleConnection(dead, 'token');
  for (let round = 1; round <= 5; round += 1) {
    nowMs = 1000 + round * 25_000;
    gateway.askForLife();
    while (round < 5 && alive.device!.heardAtMs < nowMs) await new Promise(setImmediate);
  }
  await once(deadClient, 'close');
  while (budget.sockets > 1) await new Promise(setImmediate);
  expect(budget.sockets).toBe(1);
  expect([alive.readyState, aliveClient.readyState]).toEqual([WebSocket.OPEN, WebSocket.OPEN]);
});
