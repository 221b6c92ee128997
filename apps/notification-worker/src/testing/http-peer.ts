import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PeerRequest {
  readonly at: number;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** The body as it came: files are not text. */
  readonly bytes: Buffer;
}

/** What a provider does with one request; `swallow` takes it and never answers, `hang up` takes it and cuts the line. */
export type PeerAnswer =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'swallow'
  | 'hang up';

/** A provider on 127.0.0.1 that keeps a ledger of its own of all it was sent. */
export class HttpPeer {
  readonly requests: PeerRequest[] = [];
  private readonly server: http.Server;

  private constructor(answer: (request: PeerRequest) => PeerAnswer | Promise<PeerAnswer>) {
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
          if (answered === 'swallow') return;
          if (answered === 'hang up') return void outgoing.socket?.destroy();
          outgoing.writeHead(answered.status, { 'content-type': 'application/json', ...answered.headers });
          outgoing.end(JSON.stringify(answered.body ?? {}));
        });
      });
    });
  }

  static async start(answer: (request: PeerRequest) => PeerAnswer | Promise<PeerAnswer>): Promise<HttpPeer> {
    const peer = new HttpPeer(answer);
    await new Promise<void>((resolve) => peer.server.listen(0, '127.0.0.1', resolve));
    return peer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
