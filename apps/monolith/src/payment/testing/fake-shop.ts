import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

interface ReceivedWebhook {
  readonly path: string;
  readonly signature: string | undefined;
  readonly body: Buffer;
}

/** A fake of the route where the shop receives payment webhooks: records all webhooks and gives the answers that the test sets. */
export class FakeShop {
  readonly received: ReceivedWebhook[] = [];
  /** The statuses of the next answers; 'hang' means no answer. After these the answer is 200. */
  readonly answers: (number | 'hang')[] = [];
  private server: Server | undefined;

  async open(port = 0): Promise<string> {
    this.server = createServer(async (request, response) => {
      const body = await buffer(request);
      this.received.push({ path: request.url ?? '', signature: request.headers['stripe-signature'] as string | undefined, body });
      const answer = this.answers.shift() ?? 200;
      if (answer !== 'hang') response.writeHead(answer).end('{}');
    });
    await new Promise<void>((resolve) => this.server?.listen(port, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }
}
