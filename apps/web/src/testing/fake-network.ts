/** The parts of a request that the fake servers of the tests use. */
export interface ReceivedRequest {
  method: string;
  url: URL;
  headers: Headers;
  /** The parsed JSON body. */
  body: unknown;
}

/**
 * What the network loses. `request`: the server never receives the request. `answer`: the server handles the request, but its
 * answer is lost.
 */
export type LostPart = 'request' | 'answer';

/**
 * Replaces `fetch` with a call of `server`. Each call removes the first entry of `losses` and loses the part that the entry
 * names.
 */
export function installFakeServer(
  server: (request: ReceivedRequest) => Response,
  losses: LostPart[] = [],
): { losses: LostPart[] } {
  globalThis.fetch = async (input, init = {}) => {
    init.signal?.throwIfAborted();
    const loss = losses.shift();
    if (loss === 'request') throw new TypeError('Failed to fetch');
    const answer = server({
      method: init.method ?? 'GET',
      url: new URL(input instanceof Request ? input.url : input, 'http://page.example'),
      headers: new Headers(init.headers),
      body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
    });
    if (loss === 'answer') throw new TypeError('Failed to fetch');
    return answer;
  };
  return { losses };
}

/** An error answer (problem+json) of a fake server. */
export function problemResponse(status: number, code: string, headers: Record<string, string> = {}): Response {
  return Response.json({ code, status }, { status, headers: { 'content-type': 'application/problem+json', ...headers } });
}
