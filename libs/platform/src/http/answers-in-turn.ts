import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { SlotList } from '../slot-list.ts';

/** More requests than this behind an unanswered one close the connection: each waiting request takes a few kilobytes. */
const MAX_WAITING_REQUESTS = 100;

/** The answers that have not ended: the kernel has not taken them completely. */
export type AnswersUnderWay = Iterable<ServerResponse> & { readonly size: number };

/**
 * Answers the requests of a connection one after another: a request runs when the kernel has taken the whole answer to the one before.
 * Node alone runs all requests that have arrived, and keeps their answers until the client reads them. Returns the answers under way.
 *
 * Costs nothing without pipelining: Node gives an answer its socket when all earlier answers of the connection are written.
 */
export function answerInTurn({ server, routing }: FastifyInstance): AnswersUnderWay {
  const underWay = new SlotList<ServerResponse>();
  const waitingRequests = new WeakMap<Socket, number>();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const slot = underWay.add(response);
    response.once('close', () => underWay.remove(slot));
    routing(request, response);
  };
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (response.socket) return answer(request, response);
    const { socket } = request;
    const waiting = (waitingRequests.get(socket) ?? 0) + 1;
    if (waiting > MAX_WAITING_REQUESTS) return void socket.destroy();
    waitingRequests.set(socket, waiting);
    response.once('socket', () => {
      waitingRequests.set(socket, waitingRequests.get(socket)! - 1);
      answer(request, response);
    });
  });
  return underWay;
}
