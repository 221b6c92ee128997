import { uuidField } from '#contracts/text-fields';
import { createTestHttpApp } from '#testing/test-http-app';
import { Body, Controller, Delete, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash, randomUUID } from 'node:crypto';
import net, { type AddressInfo } from 'node:net';
import { HealthModule } from '../health/health.module.ts';
import { Metrics } from '../health/metrics.ts';
import { callHttp } from '../http-client/http-client.ts';
import { createLogger } from '../logging/logger.ts';
import { Endpoint } from './endpoint.ts';
import { RequestRefused } from './request-refused.ts';

const FAN = '0190a000-0000-7000-8000-0000000000f1';
const SEAT = '0190a000-0000-7000-8000-0000000000a1';
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

let finishSlowWrite = (): void => undefined;
let slowWriteBegan = (): void => undefined;
let outgoing: { url: string } | undefined;

@Controller('api/v1')
class SeatsController {
  @Get('seats')
  @Endpoint({ access: 'public' })
  list(): { seats: number } {
    return { seats: 1 };
  }

  @Get('tokens/:token')
  @Endpoint({ access: 'public' })
  token(@Param('token') _token: string): { ok: true } {
    return { ok: true };
  }

  @Post('seats/:id/hold')
  @Endpoint({ access: 'fan', noKeyBecause: 'test' })
  hold(@Param('id', { schema: uuidField }) _id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    request.logged = { order_id: 'order-"1"' };
    void reply.status(201).header('location', '/api/v1/reservations/r-1').send({});
  }

  @Delete('seats/:id')
  @Endpoint({ access: 'public', status: 204, body: 'none' })
  free(@Param('id') id: string): void {
    if (id === 'broken') throw new Error('broken');
    throw new RequestRefused('NOT_FOUND');
  }

  @Post('slow')
  @Endpoint({ access: 'public', noKeyBecause: 'test', status: 200 })
  async slow(): Promise<{ done: true }> {
    slowWriteBegan();
    await new Promise<void>((resolve) => (finishSlowWrite = resolve));
    return { done: true };
  }

  @Post('call')
  @Endpoint({ access: 'public', noKeyBecause: 'test', status: 200 })
  async call(@Body() _body: unknown): Promise<{ traceparent: string }> {
    const answer = await callHttp({ method: 'GET', url: outgoing!.url, timeoutMs: 1000, limitBytes: 1000 });
    return { traceparent: answer.body };
  }
}

interface Logged {
  readonly lines: Record<string, unknown>[];
  readonly app: NestFastifyApplication;
  close(): Promise<void>;
}

async function open(readsEvery: number, level = 'info'): Promise<Logged> {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const app = await createTestHttpApp(
    { controllers: [SeatsController] },
    { logger: createLogger({ service: 'test', level, destination }), logReadsEvery: readsEvery },
  );
  return { lines, app, close: () => app.close() };
}

/** Runs calls against a new app; returns its lines about requests, after all of them are written. */
async function linesOf(calls: (logged: Logged) => Promise<unknown>, readsEvery = 1, level?: string) {
  const logged = await open(readsEvery, level);
  try {
    await calls(logged);
  } finally {
    await logged.close();
  }
  return logged.lines.filter(({ msg }) => msg === 'request');
}

test('access log: a write has one line with request id, method, route, status, time, user and the ids of path and Location', async () => {
  const [line, ...others] = await linesOf(({ app }) =>
    app.inject({
      method: 'POST',
      url: `/api/v1/seats/${SEAT}/hold`,
      headers: { 'x-mock-user-id': FAN, 'x-request-id': 'hold-1', traceparent: TRACEPARENT },
    }),
  );
  expect(others).toEqual([]);
  expect(line).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    service: 'test',
    pid: process.pid,
    request_id: 'hold-1',
    method: 'POST',
    route: '/api/v1/seats/:id/hold',
    status: 201,
    ms: expect.any(Number),
    user: createHash('sha256').update(FAN).digest('hex').slice(0, 16),
    ids: { id: SEAT },
    location: '/api/v1/reservations/r-1',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    order_id: 'order-"1"',
    msg: 'request',
  });
});

test.each([
  ['an unknown path', 'GET', '/nothing/here', { route: null, status: 404, code: 'NOT_FOUND', user: null }],
  ['a write to an unknown path', 'POST', '/nothing/here', { route: null, status: 404, code: 'NOT_FOUND' }],
  ['a refused read', 'GET', '/api/v1/tokens/a%00', { route: '/api/v1/tokens/:token', status: 400, code: 'VALIDATION_FAILED' }],
  ['a refusal of a handler', 'DELETE', '/api/v1/seats/1', { route: '/api/v1/seats/:id', status: 404, code: 'NOT_FOUND' }],
  ['a missing caller', 'POST', `/api/v1/seats/${SEAT}/hold`, { status: 401, code: 'UNAUTHENTICATED', user: null }],
  ['an error', 'DELETE', '/api/v1/seats/broken', { route: '/api/v1/seats/:id', status: 500, code: 'INTERNAL_ERROR' }],
  ['a path that cannot be decoded', 'GET', '/%zz', { route: null, status: 400, user: null }],
] as const)('access log: %s has one line although reads are not logged', async (_what, method, url, expected) => {
  const lines = await linesOf(({ app }) => app.inject({ method, url }), 0);
  expect(lines).toEqual([expect.objectContaining({ method, ...expected })]);
});

test('access log: bytes that are no request have a line without method and route', async () => {
  const lines = await linesOf(async ({ app }) => {
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.getHttpServer().address() as AddressInfo;
    const socket = net.connect(port, '127.0.0.1', () => socket.write('not HTTP\r\n\r\n'));
    await new Promise((resolve) => socket.resume().once('close', resolve));
  });
  expect(lines).toEqual([expect.objectContaining({ method: null, route: null, status: 400, user: null })]);
});

test('access log: a write whose client has disconnected has a line when it ends', async () => {
  const lines = await linesOf(async (logged) => {
    const { app } = logged;
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.getHttpServer().address() as AddressInfo;
    const began = new Promise<void>((resolve) => (slowWriteBegan = resolve));
    const socket = net.connect(port, '127.0.0.1', () =>
      socket.write('POST /api/v1/slow HTTP/1.1\r\nhost: x\r\nx-request-id: gone\r\ncontent-length: 0\r\n\r\n'),
    );
    await began;
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(logged.lines.filter(({ msg }) => msg === 'request')).toEqual([]);
    finishSlowWrite();
    await new Promise((resolve) => setTimeout(resolve, 700));
  });
  expect(lines).toEqual([expect.objectContaining({ request_id: 'gone', method: 'POST', route: '/api/v1/slow' })]);
});

test.each([
  [1, 300],
  [100, 3],
  [0, 0],
])('access log: with LOG_READS_EVERY=%i, 300 successful reads have %i lines', async (readsEvery, count) => {
  const lines = await linesOf(async ({ app }) => {
    for (let read = 0; read < 300; read += 1) await app.inject({ method: 'GET', url: '/api/v1/seats' });
  }, readsEvery);
  expect(lines).toHaveLength(count);
});

test('access log: a token in a path is not written', async () => {
  const lines = await linesOf(({ app }) => app.inject({ method: 'GET', url: '/api/v1/tokens/st_canary_canary_canary' }));
  expect(lines).toHaveLength(1);
  expect(JSON.stringify(lines)).not.toContain('canary');
});

test('access log: with LOG_LEVEL=warn there are no lines', async () => {
  expect(await linesOf(({ app }) => app.inject({ method: 'POST', url: '/nothing' }), 1, 'warn')).toEqual([]);
});

test('access log: health and metrics have no lines, also when the service is not ready', async () => {
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } });
  const down = { name: 'PostgreSQL', vital: true, probe: () => Promise.reject(new Error('down')) };
  const app = await createTestHttpApp(
    { controllers: [], imports: [HealthModule.register({ metrics: new Metrics(), ready: [down] })] },
    { logger, logReadsEvery: 1 },
  );
  const answers = [];
  for (const url of ['/health/live', '/health/ready', '/metrics'])
    answers.push((await app.inject({ method: 'GET', url })).statusCode);
  await app.close();
  expect(answers).toEqual([200, 503, 200]);
  expect(lines.filter((line) => line.includes('"msg":"request"'))).toEqual([]);
});

describe('traceparent', () => {
  let receiver: net.Server;

  beforeEach(async () => {
    // Answers with the traceparent that it received.
    receiver = net.createServer((socket) => {
      socket.on('data', (data) => {
        const found = /traceparent: (\S+)/i.exec(data.toString())?.[1] ?? 'none';
        socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${found.length}\r\nconnection: close\r\n\r\n${found}`);
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    outgoing = { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` };
  });

  afterEach(() => new Promise((resolve) => receiver.close(resolve)));

  const sentOn = async (headers: Record<string, string>): Promise<string> => {
    const { app, close } = await open(1);
    const answer = await app.inject({ method: 'POST', url: '/api/v1/call', headers, payload: {} });
    await close();
    return answer.json<{ traceparent: string }>().traceparent;
  };

  test('traceparent: a call of a traced request continues the trace with a span of its own', async () => {
    const [version, traceId, spanId, flags] = (await sentOn({ traceparent: TRACEPARENT })).split('-');
    expect([version, traceId, flags]).toEqual(['00', '4bf92f3577b34da6a3ce929d0e0e4736', '01']);
    expect(spanId).toMatch(/^(?!00f067aa0ba902b7)[0-9a-f]{16}$/);
  });

  test('traceparent: a request without one, or with an invalid one, is not traced', async () => {
    expect(await sentOn({ 'x-request-id': randomUUID() })).toBe('none');
    expect(await sentOn({ traceparent: '00-zz-1-01' })).toBe('none');
  });
});
