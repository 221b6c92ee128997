import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketAdapter } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer, type Server as SocketServer, type ServerOptions } from 'ws';
import { RequestRefused } from '#platform/http/request-refused';
import { jitteredRetryAfter, type ConnectionBudget } from './connection-budget.ts';
import { FanSocket } from './fan-socket.ts';

type FanSocketServer = SocketServer<typeof FanSocket>;

interface PendingUpgrade {
  readonly socket: Socket;
  readonly head: Buffer;
}

/** Beyond this the library itself closes with 1009; our own limit of 4,096 is the gateway's, which can say why. */
const MAX_PAYLOAD_BYTES = 64 * 1024;
const MAX_FRAGMENTS = 16;
/**
 * Pieces of one message as the network brings them: 64 KB in the smallest packets of IPv4 are 122. Byte by byte, each piece
 * costs some hundred bytes until the message is whole: 13 MB a socket.
 */
const MAX_PIECES = 256;
/** How long a peer has to answer our close before its socket is destroyed. */
const CLOSE_TIMEOUT_MS = 3000;

/**
 * Nest's WebSocket adapter over `ws`, as thin as it can be. An upgrade is first an ordinary request through Fastify, so
 * that address limits, trusted proxies, request ids and problem+json are the same as everywhere; what passes is handed to
 * `ws`. The gateway reads messages itself with handlers shared by all sockets: no closures per connection, no compression.
 */
export class UpgradeAdapter implements WebSocketAdapter<FanSocketServer, FanSocket, { path?: string }> {
  private readonly pending = new WeakMap<IncomingMessage, PendingUpgrade>();

  constructor(
    private readonly server: Server & { shouldUpgradeCallback?: (request: IncomingMessage) => boolean },
    private readonly fastify: FastifyInstance,
    private readonly options: { budget: ConnectionBudget; isAllowedOrigin: (origin: string) => boolean },
  ) {}

  create(_port: number, { path = '/' }: { path?: string } = {}): FanSocketServer {
    const sockets = new WebSocketServer({
      WebSocket: FanSocket,
      noServer: true,
      perMessageDeflate: false,
      // The gateway's: by itself ws makes a closure for each socket.
      autoPong: false,
      clientTracking: false,
      maxPayload: MAX_PAYLOAD_BYTES,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_PIECES,
      closeTimeout: CLOSE_TIMEOUT_MS,
      // The gateway checks it and answers 4502, as for everything else that is not JSON.
      skipUTF8Validation: true,
    } as ServerOptions<typeof FanSocket>);
    this.fastify.route({
      method: 'GET',
      url: `${path}/*`,
      exposeHeadRoute: false,
      config: { access: 'public' },
      handler: (request, reply) => this.accept(sockets, request, reply),
    });
    // Anything but a WebSocket stays an ordinary request, such as curl's polite offer of HTTP/2.
    this.server.shouldUpgradeCallback = (request) => request.headers.upgrade?.toLowerCase() === 'websocket';
    this.server.on('upgrade', this.route);
    return sockets;
  }

  bindClientConnect(server: FanSocketServer, callback: (...args: unknown[]) => void): void {
    server.on('connection', callback);
  }

  bindMessageHandlers(): void {
    // The gateway's own: see the class comment.
  }

  close(server: FanSocketServer): void {
    server.close();
  }

  dispose(): void {
    this.server.off('upgrade', this.route);
  }

  private readonly route = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    this.pending.set(request, { socket, head });
    socket.on('error', ignore);
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    // Reached only by refusals: a socket that asked for an upgrade is good for nothing else.
    response.shouldKeepAlive = false;
    response.once('finish', () => socket.destroySoon());
    this.fastify.routing(request, response);
  };

  private accept(sockets: FanSocketServer, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const upgrade = this.pending.get(request.raw);
    const token = (request.params as { '*': string })['*'];
    if (!upgrade || token === '' || token.includes('/')) throw new RequestRefused('NOT_FOUND');
    const { origin } = request.headers;
    if (origin !== undefined && !this.options.isAllowedOrigin(origin)) throw new RequestRefused('ORIGIN_NOT_ALLOWED');
    refuseWhenFull(this.options.budget);
    reply.hijack();
    const { socket, head } = upgrade;
    reply.raw.detachSocket(socket);
    socket.off('error', ignore);
    sockets.handleUpgrade(request.raw, socket, head, (client) => sockets.emit('connection', client, token));
    return reply;
  }
}

export function refuseWhenFull(budget: ConnectionBudget): void {
  if (budget.isDraining) throw new RequestRefused('SHUTTING_DOWN', { headers: jitteredRetryAfter() });
  if (budget.isFull) {
    throw new RequestRefused('DEPENDENCY_UNAVAILABLE', {
      detail: 'This server has all the connections it can hold.',
      headers: jitteredRetryAfter(),
    });
  }
}

function ignore(): void {
  // The peer is gone; there is nobody to tell.
}
