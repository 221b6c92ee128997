import { problemResponse } from '../testing/fake-network.ts';
import { readProblem } from './problem.ts';

test('a problem answer is read with its code, status, Retry-After and request id', async () => {
  expect(await readProblem(problemResponse(429, 'RATE_LIMITED', { 'retry-after': '7', 'x-request-id': 'r1' }))).toMatchObject({
    code: 'RATE_LIMITED',
    status: 429,
    retryAfterSeconds: 7,
    requestId: 'r1',
  });
});

test('an error code that the page does not know becomes UNKNOWN and keeps its status', async () => {
  expect(await readProblem(problemResponse(418, 'TEAPOT'))).toMatchObject({ code: 'UNKNOWN', status: 418 });
});

test('an HTML error page with a date as Retry-After becomes UNKNOWN without a retry delay', async () => {
  const page = new Response('<html>Bad gateway</html>', {
    status: 502,
    headers: { 'retry-after': 'Fri, 20 Nov 2026 20:00:00 GMT' },
  });
  expect(await readProblem(page)).toMatchObject({ code: 'UNKNOWN', status: 502, retryAfterSeconds: undefined });
});
