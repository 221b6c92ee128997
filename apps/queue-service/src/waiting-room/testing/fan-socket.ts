import { WebSocket } from 'ws';

type Message = { type: string } & Record<string, unknown>;

/** A fan's WebSocket in a test. It records all messages, and a test can wait for the next message of a type. */
export class FanSocket {
  readonly heard: Message[] = [];
  readonly socket: WebSocket;
  /** Resolves when the socket has closed. For a refused upgrade it has the HTTP status and headers. */
  readonly ended: Promise<{
    code: number;
    reason: string;
    status?: number;
    headers?: Record<string, string | string[] | undefined>;
  }>;
  /** How many of the recorded messages `next` has returned or skipped. */
  private readCount = 0;

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

  /** The next message of this type, already received or still to come. Skips messages of other types before it. */
  async next(type: string, withinMs = 4000): Promise<Message> {
    const deadlineMs = Date.now() + withinMs;
    while (Date.now() < deadlineMs) {
      while (this.readCount < this.heard.length) {
        const message = this.heard[this.readCount]!;
        this.readCount += 1;
        if (message.type === type) return message;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`no ${type} within ${withinMs} ms; received ${JSON.stringify(this.heard)}`);
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
