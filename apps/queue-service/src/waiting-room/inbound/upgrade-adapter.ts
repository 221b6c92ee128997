import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketAdapter } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer, type Server as SocketServer, type ServerOptions } from 'ws';
import { RequestRefused } from '#platform/http/request-refused';
import { limitedAddress } from '#platform/limits/client-address';
import { jitteredRetryAfter, type ConnectionBudget } from './connection-budget.ts';
import { FanSocket } from './fan-socket.ts';

type FanSocketServer = SocketServer<typeof FanSocket>;

interface PendingUpgrade {
  readonly socket: Socket;
  readonly head: Buffer;
}

/** For a larger message `ws` itself closes with 1009. The gateway checks the limit of 4,096 bytes and closes with a specific code. */
const MAX_PAYLOAD_BYTES = 64 * 1024;
const MAX_FRAGMENTS = 16;
/**
 * The largest number of network chunks of one incomplete message. 64 KB in the smallest IPv4 packets are 122 chunks. Without the
 * limit a client that sends single bytes could use 13 MB per socket: each chunk costs some hundred bytes until the message is
 * complete.
 */
const MAX_BUFFERED_CHUNKS = 256;
/** How long a client may take to answer our close frame before its socket is destroyed. */
const CLOSE_TIMEOUT_MS = 3000;

/**
 * A thin WebSocket adapter of Nest over `ws`. An upgrade first goes through Fastify as an ordinary request, so that rate limits,
 * trusted proxies, request ids and problem+json work as for all requests. Accepted upgrades are passed to `ws`. The gateway
 * handles messages itself with handlers shared by all sockets, which saves closures per connection. Compression is off.
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
      // FanGateway answers pings; `ws` would create a closure for each socket.
      autoPong: false,
      clientTracking: false,
      maxPayload: MAX_PAYLOAD_BYTES,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_BUFFERED_CHUNKS,
      closeTimeout: CLOSE_TIMEOUT_MS,
      // The gateway checks UTF-8 and closes with 4502, as for every message that is not JSON.
      skipUTF8Validation: true,
    } as ServerOptions<typeof FanSocket>);
    this.fastify.route({
      method: 'GET',
      url: `${path}/*`,
      exposeHeadRoute: false,
      config: { access: 'public' },
      handler: (request, reply) => this.accept(sockets, request, reply),
    });
    // Requests for an upgrade to something else, such as curl's offer of HTTP/2, are handled as ordinary requests.
    this.server.shouldUpgradeCallback = (request) => request.headers.upgrade?.toLowerCase() === 'websocket';
    this.server.on('upgrade', this.route);
    return sockets;
  }

  bindClientConnect(server: FanSocketServer, callback: (...args: unknown[]) => void): void {
    server.on('connection', callback);
  }

  bindMessageHandlers(): void {
    // The gateway handles messages itself: see the class comment.
  }

  close(server: FanSocketServer): void {
    server.close();
  }

  dispose(): void {
    this.server.off('upgrade', this.route);
  }

  private readonly route = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    socket.on('error', ignore);
    const response = new ServerResponse(request);
    try {
      response.assignSocket(socket);
    } catch {
      // An earlier request of this connection is not answered yet. Without a socket of its own the upgrade cannot be answered.
      return void socket.destroy();
    }
    this.pending.set(request, { socket, head });
    // Only a refused upgrade gets a response. Its connection must then close: Node no longer parses requests on it.
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
    const address = limitedAddress(request.ip);
    refuseWhenFull(this.options.budget, address);
    reply.hijack();
    const { socket, head } = upgrade;
    reply.raw.detachSocket(socket);
    socket.off('error', ignore);
    sockets.handleUpgrade(request.raw, socket, head, (client) => sockets.emit('connection', client, token, address));
    return reply;
  }
}

/** Throws 503 with Retry-After when the pod shuts down, or may hold no more connections, or no more of this client address. */
export function refuseWhenFull(budget: ConnectionBudget, address: string): void {
  if (budget.isDraining) throw new RequestRefused('SHUTTING_DOWN', { headers: jitteredRetryAfter() });
  if (!budget.isFull && !budget.isUsedUpBy(address)) return;
  const detail = budget.isFull
    ? 'This server is at its connection limit.'
    : 'This server is nearly full, and your address has many connections to it.';
  throw new RequestRefused('DEPENDENCY_UNAVAILABLE', { detail, headers: jitteredRetryAfter() });
}

function ignore(): void {
  // The client has disconnected, so no answer can be sent.
}
