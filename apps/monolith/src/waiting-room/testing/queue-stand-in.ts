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

/** The queue service's internal door, as far as the monolith knocks at it: takes what its contract takes, and remembers. */
export class QueueStandIn {
  readonly controls = new Map<string, ControlRequest[]>();
  /** What was said to be left, in order; an empty list is "sold out". */
  readonly remaining = new Map<string, SoldOutRequest['remaining_sectors'][]>();
  readonly completed: string[] = [];
  /** The parts of every restoring, in order. */
  readonly restored = new Map<string, RestoreRequest[]>();
  /** Every call that was taken, in order: what was called, and for which match. */
  readonly heard: string[] = [];
  /** down: hangs up. refusing: answers 503. slow: answers after a while. */
  mood: 'well' | 'down' | 'refusing' | 'slow' = 'well';
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

  /** It knows of no queue any more, as if it had been told so for each match. */
  forget(): void {
    this.controls.clear();
    this.remaining.clear();
  }

  /** Redis lost everything: a match is not known before its state is restored. */
  loseState(): void {
    this.forget();
    this.restored.clear();
    this.hasLostState = true;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.mood === 'down') return void request.socket.destroy();
    if (this.mood === 'slow') await new Promise((resolve) => setTimeout(resolve, 100));
    const [matchId = '', what] = (request.url ?? '').replace('/api/v1/queue/', '').split('/');
    const body = await text(request);
    if (request.headers['x-internal-auth'] !== this.secret) return void response.writeHead(401).end();
    if (this.mood === 'refusing') return void response.writeHead(503).end();
    if (what === 'status') return this.status(matchId, response);
    this.heard.push(`${what} ${matchId}`);
    if (what === 'restore') this.restore(matchId, restoreRequest.parse(JSON.parse(body)));
    else if (!this.knows(matchId)) response.setHeader(STATE_NEEDED_HEADER, 'true');
    if (what === 'restore') return void response.writeHead(204).end();
    if (what === 'windows' && !this.knows(matchId)) return void response.writeHead(204).end();
    if (what === 'windows') this.completed.push(`${matchId} ${(JSON.parse(body) as { session_token: string }).session_token}`);
    else if (what === 'sold-out') this.tellRemaining(matchId, soldOutRequest.parse(JSON.parse(body)));
    else this.controls.set(matchId, [...(this.controls.get(matchId) ?? []), controlRequest.parse(JSON.parse(body))]);
    response.writeHead(204).end();
  }

  knows(matchId: string): boolean {
    if (!this.hasLostState) return true;
    return this.restored.get(matchId)?.some(({ complete, exists }) => complete === true || exists === false) ?? false;
  }

  private restore(matchId: string, part: RestoreRequest): void {
    this.restored.set(matchId, [...(this.restored.get(matchId) ?? []), part]);
    if (!part.sale) return;
    const { closed_reason: closedReason, ...sale } = part.sale;
    this.controls.set(matchId, [...(this.controls.get(matchId) ?? []), sale]);
    if (closedReason === 'sold_out') this.tellRemaining(matchId, { remaining_sectors: [] });
  }

  private tellRemaining(matchId: string, { remaining_sectors }: SoldOutRequest): void {
    this.remaining.set(matchId, [...(this.remaining.get(matchId) ?? []), remaining_sectors]);
  }

  private status(matchId: string, response: ServerResponse): void {
    const control = this.lastControl(matchId);
    const problem = { 'content-type': 'application/problem+json' };
    if (!this.knows(matchId)) return void response.writeHead(503, problem).end(JSON.stringify({ state_needed: true }));
    if (!control) return void response.writeHead(404).end();
    const isSoldOut = control.status === undefined && this.remaining.get(matchId)?.at(-1)?.length === 0;
    const { processing_rate = 600 } = control;
    const status = isSoldOut ? 'closed' : (control.status ?? 'scheduled');
    const numbers = { total: 7, estimated_wait_minutes: null, open_windows: 3, granted: 10, completed: 5, expired: 2 };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ status, processing_rate, ...numbers }));
  }
}
