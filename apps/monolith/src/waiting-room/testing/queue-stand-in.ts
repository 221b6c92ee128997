import { controlRequest, soldOutRequest, type ControlRequest, type SoldOutRequest } from '#contracts/waiting-room-control';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The queue service's internal door, as far as the monolith knocks at it: takes what its contract takes, and remembers. */
export class QueueStandIn {
  readonly controls = new Map<string, ControlRequest[]>();
  /** What was said to be left, in order; an empty list is "sold out". */
  readonly remaining = new Map<string, SoldOutRequest['remaining_sectors'][]>();
  readonly completed: string[] = [];
  /** Every call that was taken, in order: what was called, and for which match. */
  readonly heard: string[] = [];
  /** down: hangs up. refusing: answers 503. slow: answers after a while. */
  mood: 'well' | 'down' | 'refusing' | 'slow' = 'well';
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

  /** Redis lost everything. */
  forget(): void {
    this.controls.clear();
    this.remaining.clear();
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
    if (what === 'windows') this.completed.push(`${matchId} ${(JSON.parse(body) as { session_token: string }).session_token}`);
    else if (what === 'sold-out') this.tellRemaining(matchId, soldOutRequest.parse(JSON.parse(body)));
    else this.controls.set(matchId, [...(this.controls.get(matchId) ?? []), controlRequest.parse(JSON.parse(body))]);
    response.writeHead(204).end();
  }

  private tellRemaining(matchId: string, { remaining_sectors }: SoldOutRequest): void {
    this.remaining.set(matchId, [...(this.remaining.get(matchId) ?? []), remaining_sectors]);
  }

  private status(matchId: string, response: ServerResponse): void {
    const control = this.lastControl(matchId);
    if (!control) return void response.writeHead(404).end();
    const isSoldOut = control.status === undefined && this.remaining.get(matchId)?.at(-1)?.length === 0;
    const { processing_rate = 600 } = control;
    const status = isSoldOut ? 'closed' : (control.status ?? 'scheduled');
    const numbers = { total: 7, estimated_wait_minutes: null, open_windows: 3, granted: 10, completed: 5, expired: 2 };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ status, processing_rate, ...numbers }));
  }
}
