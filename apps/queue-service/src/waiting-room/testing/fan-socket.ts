import { WebSocket } from 'ws';

type Message = { type: string } & Record<string, unknown>;

/** A fan's socket that remembers what it heard, so that a test can ask in its own time. */
export class FanSocket {
  readonly heard: Message[] = [];
  readonly socket: WebSocket;
  /** Resolves when it is closed, by whomever; with status for an upgrade that was refused. */
  readonly ended: Promise<{
    code: number;
    reason: string;
    status?: number;
    headers?: Record<string, string | string[] | undefined>;
  }>;
  private taken = 0;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url, { headers, perMessageDeflate: false });
    this.socket.on('message', (data) => this.heard.push(JSON.parse((data as Buffer).toString()) as Message));
    this.ended = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
      this.socket.on('unexpected-response', (_request, response) => {
        response.resume();
        resolve({ code: 0, reason: '', status: response.statusCode, headers: response.headers });
      });
      this.socket.on('error', () => undefined);
    });
  }

  /** The next message of this type, heard already or still to come; earlier ones of other types are passed over. */
  async next(type: string, withinMs = 4000): Promise<Message> {
    const giveUpAt = Date.now() + withinMs;
    while (Date.now() < giveUpAt) {
      while (this.taken < this.heard.length) {
        const message = this.heard[this.taken]!;
        this.taken += 1;
        if (message.type === type) return message;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`no ${type} within ${withinMs} ms; heard ${JSON.stringify(this.heard)}`);
  }

  async opened(): Promise<this> {
    if (this.socket.readyState === WebSocket.OPEN) return this;
    await Promise.race([
      new Promise((resolve) => this.socket.once('open', resolve)),
      this.ended.then((end) => Promise.reject(new Error(`not opened: ${JSON.stringify(end)}`))),
    ]);
    return this;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }

  terminate(): void {
    this.socket.terminate();
  }
}
