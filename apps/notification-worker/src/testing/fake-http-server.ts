import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the fake server received. */
export interface ReceivedRequest {
  readonly at: number;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** The body as bytes, because files are not text. */
  readonly bytes: Buffer;
}

/**
 * The reaction of a fake server to one request. `no answer`: the server reads the request and never answers. `disconnect`: it
 * reads the request and closes the connection.
 */
export type FakeAnswer =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'no answer'
  | 'disconnect';

/** A fake HTTP server on 127.0.0.1 that stores all requests. */
export class FakeHttpServer {
  readonly requests: ReceivedRequest[] = [];
  private readonly server: http.Server;

  private constructor(answer: (request: ReceivedRequest) => FakeAnswer | Promise<FakeAnswer>) {
    this.server = http.createServer((incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const request = {
          at: performance.now(),
          path: incoming.url ?? '',
          headers: incoming.headers,
          body: bytes.toString('utf8'),
          bytes,
        };
        this.requests.push(request);
        void Promise.resolve(answer(request)).then((answered) => {
          if (answered === 'no answer') return;
          if (answered === 'disconnect') return void outgoing.socket?.destroy();
          outgoing.writeHead(answered.status, { 'content-type': 'application/json', ...answered.headers });
          outgoing.end(JSON.stringify(answered.body ?? {}));
        });
      });
    });
  }

  static async start(answer: (request: ReceivedRequest) => FakeAnswer | Promise<FakeAnswer>): Promise<FakeHttpServer> {
    const fake = new FakeHttpServer(answer);
    await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
