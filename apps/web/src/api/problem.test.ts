import { problem } from '../testing/fake-network.ts';
import { readProblem } from './problem.ts';

test('a refusal is read with its code, status and wait', async () => {
  expect(await readProblem(problem(429, 'RATE_LIMITED', { 'retry-after': '7', 'x-request-id': 'r1' }))).toMatchObject({
    code: 'RATE_LIMITED',
    status: 429,
    retryAfterSeconds: 7,
    requestId: 'r1',
  });
});

test('a code of a newer server is UNKNOWN and keeps its status', async () => {
  expect(await readProblem(problem(418, 'TEAPOT'))).toMatchObject({ code: 'UNKNOWN', status: 418 });
});

test("a proxy's page, and a Retry-After that is a date, are read without an error", async () => {
  const page = new Response('<html>Bad gateway</html>', {
    status: 502,
    headers: { 'retry-after': 'Fri, 20 Nov 2026 20:00:00 GMT' },
  });
  expect(await readProblem(page)).toMatchObject({ code: 'UNKNOWN', status: 502, retryAfterSeconds: undefined });
});
