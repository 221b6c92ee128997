import { createTestHttpApp, INTERNAL_SECRET } from '#testing/test-http-app';
import { Controller, Get, Options, Post, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Caller, type CallerIdentity } from './caller.ts';
import { allowedOrigins } from './cors.ts';
import { Endpoint } from './endpoint.ts';

const ANA = '0190a000-0000-7000-8000-00000000000a';

@Controller()
class AccessController {
  @Get('public')
  @Endpoint({ access: 'public' })
  everybody(): unknown {
    return { caller: null };
  }

  @Get('fan')
  @Endpoint({ access: 'fan' })
  fan(@Caller() caller: CallerIdentity): unknown {
    return { caller };
  }

  @Get('ops')
  @Endpoint({ access: 'ops' })
  ops(@Caller() caller: CallerIdentity): unknown {
    return { caller };
  }

  @Get('ops/sale')
  @Endpoint({ access: 'ops:sale' })
  sale(): unknown {
    return {};
  }

  @Get('partner')
  @Endpoint({ access: 'partner' })
  partner(): unknown {
    return {};
  }

  @Get('gate')
  @Endpoint({ access: 'gate' })
  gate(): unknown {
    return {};
  }

  @Post('internal')
  @Endpoint({ access: 'internal', status: 204, body: 'none' })
  internal(): void {}

  @Get('defect')
  @Endpoint({ access: 'public' })
  defect(): never {
    throw new Error('select secret from users');
  }
}

const isAllowedOrigin = allowedOrigins({
  publicUrl: 'http://127.0.0.1:3000',
  corsOrigins: ['https://fans.example.hr'],
  production: false,
});
let app: NestFastifyApplication;
beforeAll(async () => (app = await createTestHttpApp({ controllers: [AccessController] }, { isAllowedOrigin })));
afterAll(() => app.close());

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers });

describe('access by caller and route', () => {
  const callers: Record<string, Record<string, string>> = {
    'no caller': {},
    'a fan': { 'x-mock-user-id': ANA },
    'a fan with an id in capitals': { 'x-mock-user-id': ANA.toUpperCase() },
    'an id that is not a UUID': { 'x-mock-user-id': 'ana' },
    'an operator': { 'x-mock-user-id': ANA, 'x-mock-roles': 'ops' },
    'a steward': { 'x-mock-user-id': ANA, 'x-mock-roles': 'gate' },
    'a partner': { 'x-mock-user-id': ANA, 'x-mock-roles': 'partner' },
    'an operator and steward': { 'x-mock-user-id': ANA, 'x-mock-roles': 'gate, ops' },
    'roles without a user id': { 'x-mock-roles': 'ops' },
    'a role in capitals': { 'x-mock-user-id': ANA, 'x-mock-roles': 'OPS' },
    'our own service': { 'x-internal-auth': INTERNAL_SECRET },
  };
  const answers: Record<string, [publicRoute: number, fan: number, ops: number, partner: number, gate: number]> = {
    'no caller': [200, 401, 401, 401, 401],
    'a fan': [200, 200, 403, 403, 403],
    'a fan with an id in capitals': [200, 200, 403, 403, 403],
    'an id that is not a UUID': [200, 401, 401, 401, 401],
    'an operator': [200, 200, 200, 200, 403],
    'a partner': [200, 200, 403, 200, 403],
    'a steward': [200, 200, 403, 403, 200],
    'an operator and steward': [200, 200, 200, 200, 200],
    'roles without a user id': [200, 401, 401, 401, 401],
    'a role in capitals': [200, 200, 403, 403, 403],
    'our own service': [200, 401, 401, 401, 401],
  };

  test.each(Object.keys(callers))(
    '%s gets the right status on a public, fan, ops, partner and gate route',
    async (callerName) => {
      const answersOfRoutes = await Promise.all(
        ['/public', '/fan', '/ops', '/partner', '/gate'].map((route) => get(route, callers[callerName])),
      );
      expect(answersOfRoutes.map(({ statusCode }) => statusCode)).toEqual(answers[callerName]);
      for (const refused of answersOfRoutes.filter(({ statusCode }) => statusCode > 400)) {
        expect(refused.json()).toMatchObject({ code: refused.statusCode === 401 ? 'UNAUTHENTICATED' : 'FORBIDDEN' });
      }
    },
  );

  test('a user id in capitals is converted to lower case', async () => {
    expect((await get('/fan', { 'x-mock-user-id': ANA.toUpperCase() })).json()).toEqual({ caller: { userId: ANA, roles: [] } });
  });

  test('a refusal names the roles of which the caller needs one', async () => {
    const detailOf = async (url: string) => ((await get(url, callers['a fan'])).json() as { detail: string }).detail;
    expect([await detailOf('/ops'), await detailOf('/ops/sale')]).toEqual([
      'This call needs the role ops.',
      'This call needs one of the roles ops:sale, ops.',
    ]);
  });

  test.each([
    ['the right secret', 204, INTERNAL_SECRET],
    ['no secret', 401, undefined],
    ['another secret of the same length', 401, INTERNAL_SECRET.replace('i', 'j')],
    ['the beginning of the secret', 401, INTERNAL_SECRET.slice(0, 20)],
    ['the secret twice', 401, `${INTERNAL_SECRET}, ${INTERNAL_SECRET}`],
  ])('an internal route, called with %s, answers %d', async (_what, status, secret) => {
    const headers = { 'x-mock-user-id': ANA, 'x-mock-roles': 'ops', ...(secret ? { 'x-internal-auth': secret } : {}) };
    const answer = await app.inject({ method: 'POST', url: '/internal', headers });
    expect(answer.statusCode).toBe(status);
  });
});

describe('every answer', () => {
  test.each([
    ['r-1_ABC', true],
    ['a'.repeat(64), true],
    ['a'.repeat(65), false],
    ['a b', false],
    ['<script>', false],
    ['', false],
  ])('keeps a valid X-Request-Id of the caller and replaces an invalid one: %j is kept: %s', async (given, kept) => {
    for (const url of ['/public', '/fan', '/nowhere', '/text/%ff']) {
      const id = (await get(url, { 'x-request-id': given })).headers['x-request-id'];
      expect(id === given).toBe(kept);
      expect(id).toMatch(/^[\w-]{1,64}$/);
    }
  });

  test('has headers against caching, content sniffing and referrers', async () => {
    for (const url of ['/public', '/fan', '/nowhere']) {
      expect((await get(url)).headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
    }
  });

  test.each([
    ['GET', '/nowhere'],
    ['PUT', '/public'],
    ['POST', '/ops'],
    ['DELETE', '/'],
  ] as const)('to an unknown route (%s %s) is a 404 problem', async (method, url) => {
    const answer = await app.inject({ method, url, headers: { 'x-request-id': 'r-1' } });
    expect(answer.statusCode).toBe(404);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.json()).toEqual({
      type: expect.any(String) as string,
      title: 'Not found',
      status: 404,
      code: 'NOT_FOUND',
      detail: expect.any(String) as string,
      request_id: 'r-1',
    });
  });

  test('to a request that fails with an unexpected error reveals nothing but the request id', async () => {
    const answer = await get('/defect', { 'x-request-id': 'r-2' });
    expect(answer.json()).toMatchObject({ status: 500, code: 'INTERNAL_ERROR', request_id: 'r-2' });
    expect(answer.body).not.toMatch(/secret|\.ts|at /);
  });
});

describe('CORS headers', () => {
  test.each([
    ['http://127.0.0.1:3000', true],
    ['http://localhost:3000', true],
    ['http://[::1]:3000', true],
    ['https://fans.example.hr', true],
    ['https://FANS.example.hr', true],
    ['http://127.0.0.1:3001', false],
    ['https://127.0.0.1:3000', false],
    ['https://fans.example.hr.evil.com', false],
    ['http://localhost.evil.com:3000', false],
    ['http://evil.com://127.0.0.1:3000', false],
    ['null', false],
  ])('origin %s is allowed: %s', async (origin, isAllowed) => {
    const answer = await get('/public', { origin });
    expect(answer.headers['access-control-allow-origin']).toBe(isAllowed ? origin : undefined);
    expect(answer.headers.vary).toContain('Origin');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/fan',
      headers: {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'idempotency-key,x-mock-user-id',
      },
    });
    expect(preflight.statusCode).toBe(isAllowed ? 204 : 404);
    expect(preflight.headers['access-control-allow-origin']).toBe(isAllowed ? origin : undefined);
    expect(preflight.headers['x-request-id']).toBeDefined();
    if (!isAllowed) return;
    expect(preflight.headers['access-control-allow-methods']).toContain('PUT');
    expect(preflight.headers['access-control-allow-headers']).toContain('idempotency-key');
  });

  test('a page of an allowed origin may read our response headers, also those of an error answer', async () => {
    const answer = await get('/fan', { origin: 'http://127.0.0.1:3000' });
    expect(answer.statusCode).toBe(401);
    for (const header of ['ETag', 'Location', 'Retry-After', 'RateLimit-Remaining', 'Idempotency-Replayed', 'X-Request-Id']) {
      expect(answer.headers['access-control-expose-headers']).toContain(header);
    }
  });

  test('in production localhost and 127.0.0.1 are different origins', () => {
    const strict = allowedOrigins({ publicUrl: 'http://127.0.0.1:3000', corsOrigins: [], production: true });
    expect([strict('http://127.0.0.1:3000'), strict('http://localhost:3000')]).toEqual([true, false]);
  });
});

describe('a route that does not declare its access', () => {
  @Controller()
  class UndeclaredRoute {
    @Get('undeclared')
    undeclared(): void {}
  }

  @Controller()
  class UndeclaredWildcard {
    @Options('*')
    undeclared(): void {}

    @Get('*rest')
    undeclaredGet(): void {}
  }

  test.each<[string, Type, string[]]>([
    ['a plain route', UndeclaredRoute, []],
    ['a plain route while the path / is public', UndeclaredRoute, ['/']],
    ['a wildcard route while the path / is public', UndeclaredWildcard, ['/']],
  ])('prevents the start of the service: %s', async (_what, controller, publicPrefixes) => {
    await expect(createTestHttpApp({ controllers: [controller] }, { publicPrefixes })).rejects.toThrow(
      'does not declare who may call it',
    );
  });

  test('does not prevent the start of the service if its path has a public prefix', async () => {
    const other = await createTestHttpApp({ controllers: [UndeclaredRoute] }, { publicPrefixes: ['/undeclared'] });
    await other.close();
  });
});
