import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { jest } from '@jest/globals';
import { fastify } from 'fastify';
import { WebSocket, WebSocketServer } from 'ws';
import type { NewConnections } from '../application/new-connections.ts';
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

/** A connected pair: the socket of the server and the socket of the client. */
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

describe('a client that stops reading', () => {
  test('over a socket the client misses position updates above 64 KB of unsent data and is disconnected above 256 KB', async () => {
    const [socket, client] = await socketPair();
    client.pause();
    const device = new SocketDevice('d', socket, 0);
    const text = 'x'.repeat(16 * KB);
    // The kernel buffers some megabytes before the data counts as unsent.
    for (let message = 0; message < 2000; message += 1) device.send(text, 'skippable');
    expect(socket.bufferedAmount).toBeGreaterThan(64 * KB);
    expect(socket.bufferedAmount).toBeLessThan(96 * KB);
    expect(device.isOpen).toBe(true);
    for (let message = 0; message < 20; message += 1) device.send(text, 'required');
    expect(device.isOpen).toBe(false);
    await once(socket, 'close');
  });

  test('gets all messages complete and in order when it reads again, including messages that the library `ws` has sent', async () => {
    const [socket, client] = await socketPair();
    const received: string[] = [];
    client.on('message', (data) => received.push((data as Buffer).toString()));
    client.pause();
    const device = new SocketDevice('d', socket, 0);
    const sent: string[] = [];
    const sendNext = (send: (text: string) => void) => {
      const text = `${sent.length} ${'x'.repeat(8 * KB)}`;
      sent.push(text);
      send(text);
    };
    while (socket.bufferedAmount === 0 && sent.length < 4000) sendNext((text) => device.send(text, 'required'));
    expect(socket.bufferedAmount).toBeGreaterThan(0);
    sendNext((text) => socket.send(text));
    sendNext((text) => device.send(text, 'required'));
    client.resume();
    while (received.length < sent.length) await new Promise(setImmediate);
    for (let message = 0; message < 10; message += 1) sendNext((text) => device.send(text, 'required'));
    while (received.length < sent.length) await new Promise(setImmediate);
    expect(received.map((text) => Number.parseInt(text, 10))).toEqual([...sent.keys()]);
    expect(received).toEqual(sent);
  });

  test('over an event stream the client misses position updates above 64 KB of unsent data and is disconnected above 256 KB', async () => {
    const app = fastify();
    const opened = new Promise<[StreamDevice, http.ServerResponse]>((resolve) => {
      app.get('/', (incoming, reply) => {
        resolve([StreamDevice.open('d', incoming, reply, () => undefined)!, reply.raw]);
      });
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const request = http.get({ port: (app.server.address() as AddressInfo).port, host: '127.0.0.1' });
    request.on('error', () => undefined);
    const [device, response] = await opened;
    cleanups.push(() => {
      request.destroy();
      app.server.closeAllConnections();
      return app.close();
    });
    const text = 'x'.repeat(16 * KB);
    for (let message = 0; message < 2000; message += 1) device.send(text, 'skippable');
    expect(response.writableLength).toBeGreaterThan(64 * KB);
    expect(response.writableLength).toBeLessThan(96 * KB);
    for (let message = 0; message < 9; message += 1) device.send(text, 'required');
    expect(response.writableLength).toBeGreaterThan(200 * KB);
    expect(device.isOpen).toBe(true);
    for (let message = 0; message < 11; message += 1) device.send(text, 'required');
    expect(device.isOpen).toBe(false);
  });
});

test('SocketDevice: send on a destroyed TCP connection does not throw, and the WebSocket ends', async () => {
  const [socket] = await socketPair();
  const device = new SocketDevice('d', socket, 0);
  (socket as unknown as { _socket: Socket })._socket.destroy();
  expect(device.isOpen).toBe(true);
  device.send('{}', 'required');
  expect(device.isOpen).toBe(false);
  device.send('{}', 'required');
  await once(socket, 'close');
});

test('a client that answers no pings is disconnected after 120 seconds, a client that answers pings is not', async () => {
  let nowMs = 1000;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  cleanups.push(() => clock.mockRestore());
  const noConnections = { connect: () => Promise.resolve(), disconnect: () => undefined } as unknown as NewConnections;
  const budget = new ConnectionBudget(10);
  const gateway = new FanGateway(noConnections, budget, new Pod());
  const [[alive, aliveClient], [dead, deadClient]] = [await socketPair(), await socketPair({ autoPong: false })];
  gateway.handleConnection(alive, 'token', '127.0.0.1');
  gateway.handleConnection(dead, 'token', '127.0.0.1');
  for (let ping = 1; ping <= 5; ping += 1) {
    nowMs = 1000 + ping * 25_000;
    gateway.pingAll();
    while (ping < 5 && alive.device!.lastReceivedAtMs < nowMs) await new Promise(setImmediate);
  }
  await once(deadClient, 'close');
  while (budget.sockets.size > 1) await new Promise(setImmediate);
  expect(budget.sockets.size).toBe(1);
  expect([alive.readyState, aliveClient.readyState]).toEqual([WebSocket.OPEN, WebSocket.OPEN]);
});
