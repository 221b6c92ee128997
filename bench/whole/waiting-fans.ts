// Fans who wait in the line of another match while the buyers buy: each has a socket, and now and then one leaves and joins again, so that
// all are told their new positions.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { importCompiled } from '../instruments/compiled.ts';

const FANS = 300;
const MOVE_INTERVAL_MS = 250;
const AT_ONCE = 20;

/** A line with waiting fans on sockets. */
export class WaitingFans {
  readonly #queueUrl: string;
  readonly #matchId = randomUUID();
  readonly #sockets = new Map<string, WebSocket>();
  #messages = 0;
  #closed = 0;
  #mover: NodeJS.Timeout | undefined;

  private constructor(queueUrl: string) {
    this.#queueUrl = queueUrl;
  }

  static async open(queueUrl: string): Promise<WaitingFans> {
    const line = new WaitingFans(queueUrl);
    await line.#openLine();
    const fans = Array.from({ length: FANS }, () => randomUUID());
    for (let from = 0; from < FANS; from += AT_ONCE)
      await Promise.all(fans.slice(from, from + AT_ONCE).map((fan) => line.#join(fan)));
    line.#mover = setInterval(() => void line.#moveOne(), MOVE_INTERVAL_MS);
    return line;
  }

  /** Messages to all fans since the line was opened. */
  get messages(): number {
    return this.#messages;
  }

  /** Returns what is wrong: sockets that were closed, fans who were told nothing. */
  close(): string[] {
    clearInterval(this.#mover);
    const sockets = [...this.#sockets.values()];
    this.#sockets.clear();
    for (const socket of sockets) socket.terminate();
    return [
      ...(this.#closed > 0 ? [`${this.#closed} sockets of waiting fans were closed`] : []),
      ...(this.#messages < FANS ? [`${FANS} waiting fans got ${this.#messages} messages`] : []),
    ];
  }

  /** As the monolith does for a match that only the queue service knows. It has one turn, so all other fans wait. */
  async #openLine(): Promise<void> {
    const { developmentSecrets } = await importCompiled<typeof import('../../libs/platform/src/config/settings.ts')>(
      'libs/platform/src/config/settings',
    );
    const headers = { 'x-internal-auth': developmentSecrets.INTERNAL_AUTH_SECRET };
    await this.#call('PUT', '/restore', headers, { generation: 1, part: 0, complete: true });
    await this.#call('PUT', '/control', headers, { status: 'active', processing_rate: 60, max_open_windows: 1 });
  }

  async #join(fan: string): Promise<void> {
    const place = await this.#call('POST', '/join', { 'x-mock-user-id': fan });
    const socket = new WebSocket(place.websocket_url ?? '');
    socket.on('message', () => (this.#messages += 1));
    await once(socket, 'open');
    this.#sockets.set(fan, socket);
    socket.on('close', () => {
      if (this.#sockets.get(fan) === socket) this.#closed += 1;
    });
  }

  /** A fan leaves and joins again, at the end of the line. */
  async #moveOne(): Promise<void> {
    const [fan, socket] = [...this.#sockets][FANS / 2]!;
    this.#sockets.delete(fan);
    socket.terminate();
    await this.#call('DELETE', '', { 'x-mock-user-id': fan });
    await this.#join(fan);
  }

  async #call(method: string, path: string, headers: Record<string, string>, body?: object): Promise<{ websocket_url?: string }> {
    const answer = await fetch(`${this.#queueUrl}/api/v1/queue/${this.#matchId}${path}`, {
      method,
      headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} of the waiting room: ${answer.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as { websocket_url?: string });
  }
}
