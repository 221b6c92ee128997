/** What reaches a fake server: the parts of a request that the tests' servers decide by. */
export interface Received {
  method: string;
  url: URL;
  headers: Headers;
  /** The parsed JSON body. */
  body: unknown;
}

/** `request`: the request never arrives. `answer`: the server has acted, but nobody hears of it. */
export type Loss = 'request' | 'answer';

/** Puts `server` in place of the network. Each entry of `losses` is used up by one call. */
export function connect(server: (request: Received) => Response, losses: Loss[] = []): { losses: Loss[] } {
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

export function problem(status: number, code: string, headers: Record<string, string> = {}): Response {
  return Response.json({ code, status }, { status, headers: { 'content-type': 'application/problem+json', ...headers } });
}
