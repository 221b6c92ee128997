import { DomainError } from '#domain/shared/domain-error';
import { toProblem } from './problem.ts';
import { RequestRefused } from './request-refused.ts';

test('a refusal of a rule carries its code, its data at top level and the request id', () => {
  const problem = toProblem(new DomainError('SEATS_UNAVAILABLE', 'Two of them are gone.', { seat_ids: ['a'], available: 3 }), 'r-1');
  expect(problem.status).toBe(409);
  expect(problem.body).toMatchObject({ code: 'SEATS_UNAVAILABLE', detail: 'Two of them are gone.', seat_ids: ['a'], available: 3, request_id: 'r-1' });
});

test.each([
  [Object.assign(new Error('x'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 }), 413, 'PAYLOAD_TOO_LARGE'],
  [Object.assign(new Error('x'), { code: 'FST_ERR_CTP_INVALID_JSON_BODY', statusCode: 400 }), 400, 'VALIDATION_FAILED'],
  [Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 503, 'DEPENDENCY_UNAVAILABLE'],
  [Object.assign(new Error('x'), { driverError: { code: '57P01' } }), 503, 'DEPENDENCY_UNAVAILABLE'],
  [new Error('Connection is closed.'), 503, 'DEPENDENCY_UNAVAILABLE'],
  [new RequestRefused('RATE_LIMITED'), 429, 'RATE_LIMITED'],
])('%s is answered %d %s', (error, status, code) => {
  expect(toProblem(error, 'r')).toMatchObject({ status, code });
});

test('nothing of an unexpected error gets out', () => {
  const problem = toProblem(new Error('select secret from users'), 'r');
  expect(problem.status).toBe(500);
  expect(JSON.stringify(problem.body)).not.toContain('secret');
});
