// Servers that the queue service is compared with, written as the documentation of `ws` and Nest shows.
// Usage: yardstick-server.ts bare|gateway|http. The server sends its port over IPC. On the message `push` it sends a different message
// to every client.
import 'reflect-metadata';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Body, Controller, Module, Param, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { WsAdapter } from '@nestjs/platform-ws';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { WebSocketServer, type WebSocket } from 'ws';

const ownMessage = (position: number): string =>
  JSON.stringify({ type: 'position_update', position, total: 10_000, estimated_wait_minutes: 3, estimated_wait_range: [3, 4] });

let clients = new Set<WebSocket>();
const ready = (server: Server): void => void process.send?.({ port: (server.address() as AddressInfo).port });

/** A plain `ws` server with separate handlers and closures for each connection, and `ws.send`. */
function bare(): void {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, request) => {
    const token = request.url?.slice(4);
    socket.on('message', (data) => {
      const message = JSON.parse((data as Buffer).toString()) as { type?: string };
      if (message.type === 'heartbeat') socket.send(JSON.stringify({ type: 'heartbeat_ack', token }));
    });
    socket.on('error', () => socket.terminate());
  });
  clients = sockets.clients;
  server.listen(0, '127.0.0.1', () => ready(server));
}

class Gateway {
  heartbeat(): { event: string } {
    return { event: 'heartbeat_ack' };
  }
  other(data: unknown): { event: string; data: unknown } {
    return { event: 'other', data };
  }
}

/** Applies decorators by calling them as functions: Node strips types but does not compile decorator syntax. */
function decorate(target: object, name: string, ...decorators: MethodDecorator[]): void {
  const descriptor = Object.getOwnPropertyDescriptor(target, name)!;
  for (const decorator of decorators) decorator(target, name, descriptor);
}
decorate(Gateway.prototype, 'heartbeat', SubscribeMessage('heartbeat'));
decorate(Gateway.prototype, 'other', SubscribeMessage('other'));
MessageBody()(Gateway.prototype, 'other', 0);
WebSocketGateway({ path: '/ws' })(Gateway);

class NoOp {
  join(): { ok: boolean } {
    return { ok: true };
  }
}
decorate(NoOp.prototype, 'join', Post(':match_id/join'));
Param('match_id')(NoOp.prototype, 'join', 0);
Body()(NoOp.prototype, 'join', 1);
Controller('api/v1/queue')(NoOp);

class Root {}

async function nest(metadata: object): Promise<void> {
  Module(metadata)(Root);
  const app = await NestFactory.create<NestFastifyApplication>(Root, new FastifyAdapter(), { logger: false });
  app.useWebSocketAdapter(new WsAdapter(app));
  await app.listen({ host: '127.0.0.1', port: 0 });
  ready(app.getHttpServer() as Server);
}

process.on('message', (order: { push?: true }) => {
  if (!order.push) return;
  let position = 0;
  for (const client of clients) client.send(ownMessage((position += 1)));
});
process.on('disconnect', () => process.exit());

const [, , kind] = process.argv;
if (kind === 'bare') bare();
else await nest(kind === 'gateway' ? { providers: [Gateway] } : { controllers: [NoOp] });
