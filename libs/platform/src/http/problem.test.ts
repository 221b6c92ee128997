import { DomainError } from '#domain/shared/domain-error';
import { NotFoundException } from '@nestjs/common';
import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { toProblem } from './problem.ts';
import { RequestRefused } from './request-refused.ts';

test('toProblem: a DomainError becomes an answer with its code, its data at top level and the request id', () => {
  const problem = toProblem(
    new DomainError('SEATS_UNAVAILABLE', 'Two of them are gone.', { seat_ids: ['a'], available: 3 }),
    'r-1',
  );
  expect(problem.status).toBe(409);
  expect(problem.body).toMatchObject({
    code: 'SEATS_UNAVAILABLE',
    detail: 'Two of them are gone.',
    seat_ids: ['a'],
    available: 3,
    request_id: 'r-1',
  });
});

const coded = (fields: object, message = 'x'): Error => Object.assign(new Error(message), fields);
const query = (code: string): Error => new QueryFailedError('select secret', [], coded({ code }));

test.each<[string, Error, number, string]>([
  ['a body beyond the limit', coded({ code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 }), 413, 'PAYLOAD_TOO_LARGE'],
  ['unreadable JSON', coded({ code: 'FST_ERR_CTP_INVALID_JSON_BODY', statusCode: 400 }), 400, 'VALIDATION_FAILED'],
  ['an unknown 4xx error of Fastify', coded({ code: 'FST_ERR_NEW', statusCode: 418 }), 400, 'VALIDATION_FAILED'],
  ['a caller who disconnected while sending', coded({ code: 'ECONNRESET', statusCode: 400 }), 400, 'VALIDATION_FAILED'],
  ['an unknown route', new NotFoundException(), 404, 'NOT_FOUND'],
  ['PostgreSQL refusing connections', coded({ code: 'ECONNREFUSED' }), 503, 'DEPENDENCY_UNAVAILABLE'],
  ['PostgreSQL shutting down', query('57P01'), 503, 'DEPENDENCY_UNAVAILABLE'],
  ['PostgreSQL out of connections', query('53300'), 503, 'DEPENDENCY_UNAVAILABLE'],
  ['a write to a PostgreSQL standby', query('25006'), 503, 'DEPENDENCY_UNAVAILABLE'],
  ['a SERIALIZABLE transaction on a standby', query('0A000'), 503, 'DEPENDENCY_UNAVAILABLE'],
  ['a pool without a free connection', coded({}, 'timeout exceeded when trying to connect'), 503, 'DEPENDENCY_UNAVAILABLE'],
  ['a connection that broke between two statements', new QueryRunnerAlreadyReleasedError(), 503, 'DEPENDENCY_UNAVAILABLE'],
  ['a serialization failure outside the transaction manager', query('40001'), 503, 'LOCK_TIMEOUT'],
  ['text PostgreSQL cannot hold', query('22021'), 400, 'VALIDATION_FAILED'],
  ['an unexpected constraint violation', query('23505'), 500, 'INTERNAL_ERROR'],
  ['a closed Redis connection', coded({}, 'Connection is closed.'), 503, 'DEPENDENCY_UNAVAILABLE'],
  ['a starting Redis', coded({}, 'LOADING Redis is loading the dataset in memory'), 503, 'DEPENDENCY_UNAVAILABLE'],
  ['an unknown error whose message contains "loading"', coded({}, 'Failed loading the plan'), 500, 'INTERNAL_ERROR'],
  ['an error with the status another service gave us', coded({ status: 404 }), 500, 'INTERNAL_ERROR'],
  ['a RequestRefused', new RequestRefused('RATE_LIMITED'), 429, 'RATE_LIMITED'],
])('toProblem: %s', (_what, error, status, code) => {
  const problem = toProblem(error, 'r');
  expect(problem).toMatchObject({ status, code });
  expect(JSON.stringify(problem.body)).not.toContain('secret');
});

test('toProblem: a retryable error has the Retry-After header of its code', () => {
  expect(toProblem(query('40001'), 'r').headers).toEqual({ 'retry-after': '2' });
});

test('toProblem: the message of an unexpected error is not in the answer', () => {
  const problem = toProblem(new Error('select secret from users'), 'r');
  expect(problem.status).toBe(500);
  expect(JSON.stringify(problem.body)).not.toContain('secret');
});
