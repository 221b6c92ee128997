import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server that plays a source. */
export interface SourceServer {
  readonly url: string;
  readonly requests: { url: URL; headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

/** Starts an HTTP server whose answers the test decides. The server keeps all requests. */
export async function startSourceServer(
  answer: (url: URL, response: ServerResponse, request: IncomingMessage) => void,
): Promise<SourceServer> {
  const requests: SourceServer['requests'] = [];
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://source');
    requests.push({ url, headers: request.headers });
    answer(url, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
