import { createLogger } from './logger.ts';
import { requestContext } from './request-context.ts';

function logged(write: (logger: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  });
  write(logger);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('logger: a line written during a request is JSON with service, level, fields and request id', () => {
  const [line] = logged((logger) =>
    requestContext.run({ requestId: 'r-1', deadlineAt: 0 }, () => logger.info({ match: 'm' }, 'sold')),
  );
  expect(line).toMatchObject({ service: 'test', level: 'info', request_id: 'r-1', match: 'm', msg: 'sold' });
});

test.each([
  ['a field', { session_token: 'st_canary_canary' }],
  ['a nested field', { job: { payload: { email: 'canary@example.com' } } }],
  ['a header', { headers: { authorization: 'Bearer canary-canary' } }],
  ['a path', { url: '/ws/canary-token-of-a-fan' }],
  ['an error', { err: new Error('connect postgres://user:canary@127.0.0.1/db failed') }],
])('logger: a secret in %s is not written', (_where, fields) => {
  const [line] = logged((logger) => logger.warn(fields, 'seen'));
  expect(JSON.stringify(line)).not.toContain('canary');
});

test('logger: a secret inside the message text is redacted', () => {
  const [line] = logged((logger) => logger.info('hold with st_canarycanary refused'));
  expect(line?.msg).toBe('hold with st_[redacted] refused');
});
