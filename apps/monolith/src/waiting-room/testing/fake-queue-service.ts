import {
  controlRequest,
  restoreRequest,
  soldOutRequest,
  STATE_NEEDED_HEADER,
  type ControlRequest,
  type RestoreRequest,
  type SoldOutRequest,
} from '#contracts/waiting-room-control';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * A fake of the queue service's internal API. Accepts the calls of the monolith in the format of the contract, and records them.
 */
export class FakeQueueService {
  readonly controls = new Map<string, ControlRequest[]>();
  /** The reports of remaining sectors for each match, in order. An empty report means sold out. */
  readonly remaining = new Map<string, SoldOutRequest['remaining_sectors'][]>();
  readonly completed: string[] = [];
  /** The parts of all restores for each match, in order. */
  readonly restored = new Map<string, RestoreRequest[]>();
  /** All accepted calls in order, each as `<path> <match id>`. */
  readonly calls: string[] = [];
  /** down: closes the connection. refusing: answers 503. slow: answers after 100 ms. */
  behaviour: 'normal' | 'down' | 'refusing' | 'slow' = 'normal';
  private hasLostState = false;
  private readonly server = createServer((request, response) => void this.answer(request, response));

  constructor(private readonly secret: string) {}

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  lastControl(matchId: string): ControlRequest | undefined {
    return this.controls.get(matchId)?.at(-1);
  }

  /** Forgets all queues: a call for the status of a queue then answers 404. Unlike `loseState`, it asks for no state again. */
  forgetQueues(): void {
    this.controls.clear();
    this.remaining.clear();
  }

  /** Simulates a loss of Redis: a match is unknown until its state is restored. */
  loseState(): void {
    this.forgetQueues();
    this.restored.clear();
    this.hasLostState = true;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.behaviour === 'down') return void request.socket.destroy();
    if (this.behaviour === 'slow') await new Promise((resolve) => setTimeout(resolve, 100));
    const [matchId = '', action] = (request.url ?? '').replace('/api/v1/queue/', '').split('/');
    const body = await text(request);
    if (request.headers['x-internal-auth'] !== this.secret) return void response.writeHead(401).end();
    if (this.behaviour === 'refusing') return void response.writeHead(503).end();
    if (action === 'status') return this.status(matchId, response);
    this.calls.push(`${action} ${matchId}`);
    if (action === 'restore') this.restore(matchId, restoreRequest.parse(JSON.parse(body)));
    else if (!this.hasState(matchId)) response.setHeader(STATE_NEEDED_HEADER, 'true');
    if (action === 'restore') return void response.writeHead(204).end();
    if (action === 'windows' && !this.hasState(matchId)) return void response.writeHead(204).end();
    if (action === 'windows') this.completed.push(`${matchId} ${(JSON.parse(body) as { session_token: string }).session_token}`);
    else if (action === 'sold-out') this.recordRemaining(matchId, soldOutRequest.parse(JSON.parse(body)));
    else this.controls.set(matchId, [...(this.controls.get(matchId) ?? []), controlRequest.parse(JSON.parse(body))]);
    response.writeHead(204).end();
  }

  hasState(matchId: string): boolean {
    if (!this.hasLostState) return true;
    return this.restored.get(matchId)?.some(({ complete, exists }) => complete === true || exists === false) ?? false;
  }

  private restore(matchId: string, part: RestoreRequest): void {
    this.restored.set(matchId, [...(this.restored.get(matchId) ?? []), part]);
    if (!part.sale) return;
    const { closed_reason: closedReason, ...sale } = part.sale;
    this.controls.set(matchId, [...(this.controls.get(matchId) ?? []), sale]);
    if (closedReason === 'sold_out') this.recordRemaining(matchId, { remaining_sectors: [] });
  }

  private recordRemaining(matchId: string, { remaining_sectors }: SoldOutRequest): void {
    this.remaining.set(matchId, [...(this.remaining.get(matchId) ?? []), remaining_sectors]);
  }

  private status(matchId: string, response: ServerResponse): void {
    const control = this.lastControl(matchId);
    const problem = { 'content-type': 'application/problem+json' };
    if (!this.hasState(matchId)) return void response.writeHead(503, problem).end(JSON.stringify({ state_needed: true }));
    if (!control) return void response.writeHead(404).end();
    const isSoldOut = control.status === undefined && this.remaining.get(matchId)?.at(-1)?.length === 0;
    const { processing_rate = 600 } = control;
    const status = isSoldOut ? 'closed' : (control.status ?? 'scheduled');
    const numbers = { total: 7, estimated_wait_minutes: null, open_windows: 3, granted: 10, completed: 5, expired: 2 };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ status, processing_rate, ...numbers }));
  }
}
