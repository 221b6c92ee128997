import type { ServerResponse } from 'node:http';

interface Listed {
  readonly id: string;
}

/**
 * Answers a request as Stripe's list of events does, with the newest of `all` first. `ending_before` returns the next newer page,
 * `starting_after` the next older one. An unknown id is the error `resource_missing`.
 */
export function answerAsStripe(all: readonly Listed[], url: URL, response: ServerResponse): void {
  const newestFirst = all.toReversed();
  const limit = Number(url.searchParams.get('limit') ?? 10);
  const [before, after] = [url.searchParams.get('ending_before'), url.searchParams.get('starting_after')];
  const at = newestFirst.findIndex(({ id }) => id === (before ?? after));
  if ((before ?? after) !== null && at < 0) {
    response.statusCode = 400;
    const error = {
      code: 'resource_missing',
      param: before === null ? 'starting_after' : 'ending_before',
      type: 'invalid_request_error',
    };
    return void response.end(JSON.stringify({ error }));
  }
  const [from, to] = before === null ? [at + 1, at + 1 + limit] : [Math.max(0, at - limit), at];
  const has_more = before === null ? to < newestFirst.length : from > 0;
  response.end(JSON.stringify({ object: 'list', data: newestFirst.slice(from, to), has_more, url: '/v1/events' }));
}
