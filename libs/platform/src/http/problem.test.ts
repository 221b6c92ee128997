import { DomainError } from '#domain/shared/domain-error';
import { NotFoundException } from '@nestjs/common';
import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { toProblem } from './problem.ts';
import { RequestRefused } from './request-refused.ts';

test('toProblem: a DomainError becomes an answer with the code of the error, its data as members at top level, and the request id', () => {
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

test.each<[string, number, string, Error]>([
  ['a body beyond the limit', 413, 'PAYLOAD_TOO_LARGE', coded({ code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 })],
  ['unreadable JSON', 400, 'VALIDATION_FAILED', coded({ code: 'FST_ERR_CTP_INVALID_JSON_BODY', statusCode: 400 })],
  ['an unknown 4xx error of Fastify', 400, 'VALIDATION_FAILED', coded({ code: 'FST_ERR_NEW', statusCode: 418 })],
  ['a caller who disconnected while sending', 400, 'VALIDATION_FAILED', coded({ code: 'ECONNRESET', statusCode: 400 })],
  ['an unknown route', 404, 'NOT_FOUND', new NotFoundException()],
  ['PostgreSQL refusing connections', 503, 'DEPENDENCY_UNAVAILABLE', coded({ code: 'ECONNREFUSED' })],
  ['PostgreSQL shutting down', 503, 'DEPENDENCY_UNAVAILABLE', query('57P01')],
  ['PostgreSQL out of connections', 503, 'DEPENDENCY_UNAVAILABLE', query('53300')],
  ['a write to a PostgreSQL standby', 503, 'DEPENDENCY_UNAVAILABLE', query('25006')],
  ['a SERIALIZABLE transaction on a standby', 503, 'DEPENDENCY_UNAVAILABLE', query('0A000')],
  ['a pool without a free connection', 503, 'DEPENDENCY_UNAVAILABLE', coded({}, 'timeout exceeded when trying to connect')],
  ['a connection that broke between two statements', 503, 'DEPENDENCY_UNAVAILABLE', new QueryRunnerAlreadyReleasedError()],
  ['a serialization failure outside the transaction manager', 503, 'LOCK_TIMEOUT', query('40001')],
  ['text PostgreSQL cannot hold', 400, 'VALIDATION_FAILED', query('22021')],
  ['an unexpected constraint violation', 500, 'INTERNAL_ERROR', query('23505')],
  ['a closed Redis connection', 503, 'DEPENDENCY_UNAVAILABLE', coded({}, 'Connection is closed.')],
  ['a starting Redis', 503, 'DEPENDENCY_UNAVAILABLE', coded({}, 'LOADING Redis is loading the dataset in memory')],
  ['an unknown error whose message contains "loading"', 500, 'INTERNAL_ERROR', coded({}, 'Failed loading the plan')],
  ['an error whose `status` 404 is the answer of another service to us', 500, 'INTERNAL_ERROR', coded({ status: 404 })],
  ['a RequestRefused', 429, 'RATE_LIMITED', new RequestRefused('RATE_LIMITED')],
])('toProblem: %s is answered %d %s', (_what, status, code, error) => {
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
