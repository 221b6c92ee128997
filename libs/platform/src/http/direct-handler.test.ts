import { DomainError } from '#domain/shared/domain-error';
import { createTestHttpApp } from '#testing/test-http-app';
import { Body, Controller, Get, Headers, Param, Post, Query, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { Caller, type CallerIdentity } from './caller.ts';
import { Endpoint } from './endpoint.ts';

const ANA = '0190a000-0000-7000-8000-00000000000a';

@Controller('tills')
class PaymentsController {
  private readonly name = 'till 1';

  @Post(':id/pay')
  @Endpoint({ access: 'fan', direct: true })
  async pay(
    @Res() reply: FastifyReply,
    @Caller() caller: CallerIdentity,
    @Headers('X-Note') note: string | undefined,
    @Body({ schema: z.object({ cents: z.int() }) }) body: { cents: number },
    @Param('id', { schema: z.string().transform((id) => id.toUpperCase()) }) id: string,
    @Query() query: object,
  ): Promise<void> {
    await Promise.resolve();
    void reply.status(201).send({ by: caller.userId, note, body, id, query, at: this.name });
  }

  @Get('result')
  @Endpoint({ access: 'public', status: 202, direct: true })
  result(): Promise<object> {
    return Promise.resolve({ at: this.name });
  }

  @Get('refused')
  @Endpoint({ access: 'public', status: 200, direct: true })
  async refused(): Promise<never> {
    await Promise.resolve();
    throw new DomainError('SEATS_BUSY', 'Just now.');
  }

  @Get('defect')
  @Endpoint({ access: 'public', status: 200, direct: true })
  defect(): Promise<never> {
    throw new Error('select secret from users');
  }
}

let app: NestFastifyApplication;
beforeAll(async () => (app = await createTestHttpApp({ controllers: [PaymentsController] })));
afterAll(() => app.close());

test('direct handler: each argument is the part of the request that its decorator names, parsed by its schema', async () => {
  const answer = await app.inject({
    method: 'POST',
    url: '/tills/a7/pay?x=1',
    headers: { 'x-mock-user-id': ANA, 'x-note': 'quick' },
    payload: { cents: 5, more: 'dropped' },
  });
  expect([answer.statusCode, answer.json<object>()]).toEqual([
    201,
    { by: ANA, note: 'quick', body: { cents: 5 }, id: 'A7', query: { x: '1' }, at: 'till 1' },
  ]);
});

test('direct handler: the access check and the input check run before the handler', async () => {
  const post = (headers: Record<string, string>, cents: unknown) =>
    app.inject({ method: 'POST', url: '/tills/a7/pay', headers, payload: { cents } });
  expect((await post({}, 5)).statusCode).toBe(401);
  expect((await post({ 'x-mock-user-id': ANA }, 'five')).json()).toMatchObject({ code: 'VALIDATION_FAILED' });
});

test('direct handler: the value that the method returns is sent with the status of the route', async () => {
  const answer = await app.inject({ url: '/tills/result' });
  expect([answer.statusCode, answer.json<object>()]).toEqual([202, { at: 'till 1' }]);
});

test('direct handler: an error is answered as problem+json, also when it is thrown synchronously', async () => {
  const [refused, defect] = await Promise.all([app.inject({ url: '/tills/refused' }), app.inject({ url: '/tills/defect' })]);
  expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([409, 'SEATS_BUSY']);
  expect([defect.statusCode, defect.json<{ code: string }>().code, defect.body.includes('secret')]).toEqual([
    500,
    'INTERNAL_ERROR',
    false,
  ]);
  expect(refused.headers['content-type']).toContain('application/problem+json');
});

test('direct handler: declaring a method with neither @Res() nor a status throws', () => {
  const declare = (): unknown => {
    @Controller()
    class UnansweredController {
      @Get('unanswered')
      @Endpoint({ access: 'public', direct: true })
      unanswered(): Promise<object> {
        return Promise.resolve({});
      }
    }
    return UnansweredController;
  };
  expect(declare).toThrow('UnansweredController.unanswered is called directly');
});
