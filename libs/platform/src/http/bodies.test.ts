import { createTestHttpApp } from '#testing/test-http-app';
import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { CsvBody } from './csv-body.ts';
import { Endpoint } from './endpoint.ts';

const thing = z.strictObject({ name: z.string().max(20), quantity: z.int().min(1).max(20), note: z.unknown().optional() });
const byId = z.object({ id: z.uuid() });
const search = z.object({ limit: z.string().regex(/^\d+$/).optional() });

@Controller()
class ThingsController {
  @Post('things')
  @Endpoint({ access: 'public', status: 200, noKeyBecause: 'test' })
  create(@Body({ schema: thing }) body: z.infer<typeof thing>): unknown {
    return body;
  }

  @Post('ops/things')
  @Endpoint({ access: 'ops', status: 200, noKeyBecause: 'test' })
  createMany(@Body() body: unknown[]): unknown {
    return { size: JSON.stringify(body).length };
  }

  @Post('nothing')
  @Endpoint({ access: 'public', status: 200, noKeyBecause: 'test', body: 'none' })
  nothing(@Body() body: unknown): unknown {
    return { body: body ?? null };
  }

  @Delete('things/:id')
  @Endpoint({ access: 'public', body: 'none', status: 204 })
  remove(@Param({ schema: byId }) _params: { id: string }, @Res() reply: FastifyReply): void {
    void reply.send();
  }

  @Post('raw')
  @Endpoint({ access: 'public', status: 200, noKeyBecause: 'test', body: 'raw' })
  raw(@Body() body: Buffer): unknown {
    return { isBuffer: Buffer.isBuffer(body), size: body.length };
  }

  @Post('lists')
  @Endpoint({ access: 'public', status: 200, noKeyBecause: 'test', csv: { description: '', example: '' } })
  lists(@Body() body: unknown): unknown {
    return body instanceof CsvBody ? { csv: body.text } : { json: body };
  }

  @Get('things')
  @Endpoint({ access: 'public' })
  list(@Query({ schema: search }) query: unknown): unknown {
    return query;
  }

  @Get('text/:text')
  @Endpoint({ access: 'public' })
  text(@Param('text') text: string): unknown {
    return { text };
  }
}

let app: NestFastifyApplication;
beforeAll(async () => (app = await createTestHttpApp({ controllers: [ThingsController] })));
afterAll(() => app.close());

interface Sent {
  method?: 'GET' | 'POST' | 'DELETE';
  type?: string | undefined;
  headers?: Record<string, string>;
}

async function send(url: string, payload?: string | Buffer, { method = 'POST', type = 'application/json', headers }: Sent = {}) {
  const answer = await app.inject({
    method,
    url,
    headers: { ...(type === '' ? {} : { 'content-type': type }), ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
  const json = answer.body === '' ? undefined : (answer.json() as Record<string, unknown>);
  return { status: answer.statusCode, code: json?.code, json, headers: answer.headers };
}

const good = { name: 'a', quantity: 3 };
const ops = { 'x-mock-user-id': '0190a000-0000-7000-8000-000000000001', 'x-mock-roles': 'ops' };
const withNote = (note: string): string => `{"name":"a","quantity":3,"note":${note}}`;

test.each([
  'application/json',
  'application/json; charset=utf-8',
  ' application/json',
  'Application/JSON',
  'application/json;v=1',
])('JSON body: content type %j is accepted', async (type) => {
  expect(await send('/things', JSON.stringify(good), { type })).toMatchObject({ status: 200, json: good });
});

test.each<[string, string | Buffer]>([
  ['broken JSON', '{"name":'],
  ['two JSON documents', '{}{}'],
  ['__proto__', '{"name":"a","quantity":3,"__proto__":{"admin":true}}'],
  ['__proto__ in escapes', '{"name":"a","quantity":3,"\\u005f_proto__":{"admin":true}}'],
  ['constructor.prototype', '{"constructor":{"prototype":{"admin":true}}}'],
  ['33 levels of nesting', withNote('['.repeat(32) + ']'.repeat(32))],
  ['8,000 levels of nesting', '['.repeat(8000)],
  ['broken UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
  ['a byte order mark', '\ufeff{}'],
  ['a NUL', '{"name":"a\0","quantity":3}'],
  ['an escaped NUL', '{"name":"a\\u0000","quantity":3}'],
  ['an escaped NUL in a name of a member', withNote('{"a\\u0000":1}')],
  ['only the first half of a surrogate pair', withNote('["\\ud83d"]')],
  ['only the second half of a surrogate pair', withNote('"\\uDFDF"')],
  ['a list', '[]'],
  ['null', 'null'],
  ['a number', '3'],
  ['no bytes', ''],
  ['an unknown field', '{"name":"a","quantity":3,"price":1}'],
  ['a number as text', '{"name":"a","quantity":"3"}'],
  ['text as a number', '{"name":7,"quantity":3}'],
  ['a fraction', '{"name":"a","quantity":1.5}'],
  ['zero', '{"name":"a","quantity":0}'],
  ['a negative number', '{"name":"a","quantity":-1}'],
  ['infinity', '{"name":"a","quantity":1e400}'],
  ['2^53', '{"name":"a","quantity":9007199254740992}'],
  ['true instead of a number', '{"name":"a","quantity":true}'],
])('JSON body: a body with %s is 400 VALIDATION_FAILED', async (_what, payload) => {
  expect(await send('/things', payload)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
});

test.each([
  ['32 levels of nesting', withNote('['.repeat(31) + ']'.repeat(31))],
  ['brackets inside text', withNote(`"${'['.repeat(500)}\\"{"`)],
  ['a whole surrogate pair in escapes', withNote('"\\ud83c\\udfdf"')],
  ['an escaped backslash before u0000', withNote('"\\\\u0000"')],
])('JSON body: a body with %s is accepted', async (_what, payload) => {
  expect(await send('/things', payload)).toMatchObject({ status: 200, json: { name: 'a' } });
});

test.each([
  'text/plain',
  'application/xml',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/jsonx',
  'nonsense',
  'application/json garbage',
  'application/json\ta',
  '',
])('JSON body: content type %j is 415 UNSUPPORTED_MEDIA_TYPE', async (type) => {
  expect(await send('/things', JSON.stringify(good), { type })).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
});

test.each([
  ['/things', 16, {}],
  ['/ops/things', 256, ops],
  ['/raw', 256, {}],
  ['/nothing', 16, {}],
])('body size: %s accepts %d KB, and one byte more is 413', async (url, kilobytes, headers) => {
  const ofSize = (size: number): string => `["${'x'.repeat(size - 4)}"]`;
  expect((await send(url, ofSize(kilobytes * 1024), { headers })).status).not.toBe(413);
  expect(await send(url, ofSize(kilobytes * 1024 + 1), { headers })).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
});

test('a body of an operator may be longer than 16 KB, but its nesting is limited like that of every body', async () => {
  expect(await send('/ops/things', `[${'[],'.repeat(80_000)}[]]`, { headers: ops })).toMatchObject({ status: 200 });
  expect(await send('/ops/things', '['.repeat(130_000) + ']'.repeat(130_000), { headers: ops })).toMatchObject({ status: 400 });
});

describe.each<Sent & { type: string }>([
  { type: '' },
  { type: 'application/json' },
  { type: 'text/plain' },
  { type: 'application/x-www-form-urlencoded' },
  { type: 'application/octet-stream' },
])('a route without a body, content type "$type"', ({ type }) => {
  test.each([undefined, '', '{}', ' { } ', '\n'])('accepts %j', async (payload) => {
    expect(await send('/nothing', payload, { type })).toMatchObject({ status: 200, json: { body: null } });
    const id = '0190a000-0000-7000-8000-000000000001';
    expect((await send(`/things/${id}`, payload, { type, method: 'DELETE' })).status).toBe(204);
  });

  test.each(['[]', '{"a":1}', 'a=1', 'null', '{'])('refuses %j', async (payload) => {
    expect(await send('/nothing', payload, { type })).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
  });
});

test.each(['application/json', 'text/plain', ''])(
  'a route with `body: raw` gets the unparsed bytes, also with content type %j',
  async (type) => {
    expect(await send('/raw', '{"a": 1}', { type })).toMatchObject({ status: 200, json: { isBuffer: true, size: 8 } });
  },
);

describe('a route that takes CSV', () => {
  test.each(['text/csv', 'text/csv; charset=utf-8', 'Text/CSV'])(
    'gets the text as it was sent, with content type %j',
    async (type) => {
      const csv = '\ufeffname;place\r\nŠćepanović;"A"\r\n';
      expect(await send('/lists', csv, { type })).toMatchObject({ status: 200, json: { csv } });
    },
  );

  test('gets JSON too, which never looks like CSV', async () => {
    expect(await send('/lists', '{"text":"a"}')).toMatchObject({ status: 200, json: { json: { text: 'a' } } });
    expect(await send('/lists', 'a,b', { type: 'text/plain' })).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
  });

  test.each<[string, string | Buffer]>([
    ['a NUL', 'name\nA\0na'],
    ['broken UTF-8', Buffer.from('name\n\x8aime', 'latin1')],
  ])('refuses a body with %s', async (_what, csv) => {
    expect(await send('/lists', csv, { type: 'text/csv' })).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
  });

  test('other routes answer CSV with 415, and a route without a body takes none in CSV', async () => {
    expect(await send('/things', 'a,b', { type: 'text/csv' })).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
    expect(await send('/nothing', 'a,b', { type: 'text/csv' })).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
  });
});

test('the answer to a body with two wrong fields names both fields', async () => {
  const { json } = await send('/things', '{"name":7,"quantity":"3"}');
  expect(json?.errors).toEqual([
    { path: 'name', message: expect.any(String) as string },
    { path: 'quantity', message: expect.any(String) as string },
  ]);
});

test('an invalid id in the path or an invalid query parameter is 400, and unknown query parameters are ignored', async () => {
  expect(await send('/things/7', undefined, { method: 'DELETE' })).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
  expect(await send('/things?limit=5&colour=red', undefined, { method: 'GET' })).toMatchObject({
    status: 200,
    json: { limit: '5' },
  });
  expect(await send('/things?limit=x', undefined, { method: 'GET' })).toMatchObject({ status: 400 });
  expect(await send('/things?limit=1&limit=2', undefined, { method: 'GET' })).toMatchObject({ status: 400 });
});

test.each([
  ['/text/a%00b', 400],
  ['/things?cursor=%00', 400],
  ['/text/%', 400],
  ['/text/%ff', 400],
  ['/text/%ed%a0%80', 400],
  [`/text/${'x'.repeat(129)}`, 414],
  [`/text/${'x'.repeat(128)}`, 200],
  ['/text/%F0%9F%8F%9F', 200],
])('invalid bytes and length of a path: GET %s is answered %d', async (url, status) => {
  expect(await send(url, undefined, { method: 'GET' })).toMatchObject({ status });
});
