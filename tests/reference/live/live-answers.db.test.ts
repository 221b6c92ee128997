import { StripePeer } from '../../../apps/monolith/src/payment/testing/stripe-peer.ts';
import type { ErrorCode } from '#platform/http/error-catalogue';
import { randomUUID } from 'node:crypto';
import { callers, fill, goodCall, hangUp, needsKey, nowhere, takesBody, type Call } from '../../bad-input/calls.ts';
import { monolithSamples, queueSamples } from '../../bad-input/samples.ts';
import { write } from '../../bad-input/shapes.ts';
import { newKey, openServices, openSystem, type Services, type System } from '../../bad-input/system.ts';
import { AnswerListener, type HeardAnswer, type Name } from './answer-listener.ts';
import { Fans, standing } from './fans.ts';
import { line, matches, profile } from './other-stories.ts';
import { holds, orders } from './purchase-stories.ts';
import { DocumentedAnswers, type LiveAnswer } from './documented-answers.ts';
import { operationsOf, type Document } from '../openapi-document.ts';

// Both services are driven through everything they do, and every answer is compared with the document they serve.

const names = ['monolith', 'queue'] as const;
const samples = { monolith: monolithSamples, queue: queueSamples };
const peer = new StripePeer();
let system: System;
let limited: Services;
let documents: Record<Name, DocumentedAnswers>;
let heard: readonly HeardAnswer[];

beforeAll(async () => {
  const base = await peer.start();
  system = await openSystem();
  limited = await openServices({
    ...{ PAYMENT_PROVIDER: 'stripe', STRIPE_API_BASE: base, STRIPE_SECRET_KEY: peer.secretKey },
    RATE_LIMIT_USER_PER_MINUTE: '3',
  });
  const documentOf = async (name: Name): Promise<DocumentedAnswers> =>
    new DocumentedAnswers((await system[name].app.inject({ method: 'GET', url: '/openapi.json' })).json<Document>());
  documents = { monolith: await documentOf('monolith'), queue: await documentOf('queue') };
  heard = [...(await wander()), ...(await stumble()), ...(await meetLimits())];
}, 120_000);
afterAll(async () => {
  hangUp();
  await system.close();
  await limited.close();
  await peer.stop();
});

async function wander(): Promise<readonly HeardAnswer[]> {
  const listener = new AnswerListener(system);
  const fans = new Fans(listener, system);
  for (const story of [holds, orders, matches, line, profile]) await story(fans);
  await fans.webhook({ id: 'evt_2', type: 'charge.updated', data: { object: { id: 'ch_1' } } });
  await fans.webhook({ id: 'evt_3' }, 't=1,v1=0');
  return listener.heard;
}

/** Every call with the faults that any request may have. */
async function stumble(): Promise<readonly HeardAnswer[]> {
  const listener = new AnswerListener(system);
  for (const name of names) {
    for (const route of system[name].routes) {
      const sample = samples[name][`${route.method} ${route.url}`];
      if (!sample) continue;
      const good = (): Call => goodCall(route, sample, system.at);
      const json = { 'content-type': 'application/json' };
      const { access } = route.rules ?? {};
      const calls: (Call | false)[] = [
        route.method === 'GET' && good(),
        access !== 'public' && { ...good(), headers: json },
        access === 'ops' && { ...good(), headers: { ...good().headers, ...callers.fan } },
        route.url.includes(':') && { ...good(), url: fill(route.url, nowhere(route.url)) },
        route.url.includes(':') && { ...good(), url: fill(route.url, { ...nowhere(route.url), ...bad('%00', route.url) }) },
        route.url.includes(':') && { ...good(), url: fill(route.url, bad('x'.repeat(200), route.url)) },
        takesBody(route) && { ...good(), headers: { ...good().headers, ...json }, payload: '{"no_such_field":1}' },
        takesBody(route) && { ...good(), headers: { ...good().headers, 'content-type': 'text/plain' }, payload: 'x' },
        takesBody(route) && { ...good(), headers: { ...good().headers, ...json }, payload: `"${'x'.repeat(300_000)}"` },
        needsKey(name, route) && { ...good(), headers: { ...good().headers, 'idempotency-key': 'none' } },
        needsKey(name, route) && { ...good(), headers: { ...good().headers, 'idempotency-key': '' } },
      ];
      for (const call of calls) if (call) await listener.send(name, call);
    }
  }
  return listener.heard;
}

const bad = (segment: string, url: string): Record<string, string> =>
  Object.fromEntries([...url.matchAll(/:(\w+)/g)].map(([, parameter = '']) => [parameter, segment]));

/** The provider refuses, does not answer; a fan asks too often. */
async function meetLimits(): Promise<readonly HeardAnswer[]> {
  const listener = new AnswerListener(limited);
  const fans = new Fans(listener, limited);
  const match = await fans.match({ sectors: [standing('Cheap', 20, 50)] });
  const [often, once] = [randomUUID(), randomUUID()];
  const held = await fans.holdIn(match, 0, 1, often);
  for (let time = 0; time < 3; time += 1) await fans.checkOut(held as never, often);
  const other = await fans.holdIn(match, 0, 1, once);
  peer.faults.push('429');
  await fans.checkOut(other as never, once);
  return listener.heard;
}

const operation = (answer: HeardAnswer): string => `${answer.service}: ${documents[answer.service].operationOf(answer)}`;
const codeOf = ({ type, body }: LiveAnswer): ErrorCode | undefined =>
  type?.startsWith('application/problem+json') ? (JSON.parse(body) as { code: ErrorCode }).code : undefined;
/** The same answer twice is one: what differs is the call, the status, or what is said. */
const without = (body: string): string => body.replace(/"request_id":"[^"]+"/, '');

test('every answer is as documented: the status is named, and the body fits its schema', () => {
  const faults = heard.flatMap((answer) =>
    documents[answer.service]
      .faultsOf(answer)
      .map((fault) => `${operation(answer)} ${answer.status} ${fault}: ${answer.body.slice(0, 300)}`),
  );
  expect(faults).toEqual([]);
  const distinct = new Set(heard.map((answer) => `${operation(answer)} ${answer.status} ${without(answer.body)}`));
  expect(distinct.size).toBeGreaterThanOrEqual(150);
  expect(heard.filter(({ status }) => status === 500)).toEqual([]);
});

test('every documented success of every call was met, and so was every refusal that a call declares for itself', () => {
  const met = new Set(
    heard.flatMap((answer) => [`${operation(answer)} ${answer.status}`, `${operation(answer)} ${codeOf(answer)}`]),
  );
  const documented = names.flatMap((name) =>
    operationsOf(documents[name].document).flatMap(({ path, method, operation: { responses } }) => {
      const route = system[name].routes.find((one) => one.method === method && one.url.replaceAll(/:(\w+)/g, '{$1}') === path);
      const successes = Object.keys(responses).filter((status) => /^[23]/.test(status));
      return [...successes, ...(route?.rules?.refusals ?? [])].map((what) => `${name}: ${method} ${path} ${what}`);
    }),
  );
  expect(documented.filter((what) => !met.has(what))).toEqual([]);
  expect(documented.length).toBeGreaterThan(90);
});

test('an answer may have further members anywhere, and a body may not', () => {
  const more = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(more);
    if (value === null || typeof value !== 'object') return value;
    return {
      ...Object.fromEntries(Object.entries(value).map(([name, member]) => [name, more(member)])),
      added_later: { deep: 1 },
    };
  };
  // The counts of orders are by status: whatever else stands there is a count too.
  const answers = heard.filter(
    ({ type, body, path }) => type?.includes('json') === true && body !== '' && !path.endsWith('/report'),
  );
  const faults = answers.flatMap((answer) =>
    documents[answer.service].faultsOf({ ...answer, body: JSON.stringify(more(JSON.parse(answer.body))) }),
  );
  expect(faults).toEqual([]);
  expect(answers.length).toBeGreaterThan(150);
  const bodies = names.flatMap((name) =>
    Object.entries(samples[name]).flatMap(([call, { bodies: shapes = [] }]) =>
      shapes.map((shape) => ({
        name,
        call: call.replaceAll(/:(\w+)/g, '{$1}'),
        body: JSON.parse(write(shape.good(system.at))) as object,
      })),
    ),
  );
  expect(bodies.filter(({ name, call, body }) => !documents[name].takes(call, body))).toEqual([]);
  expect(bodies.filter(({ name, call, body }) => documents[name].takes(call, { ...body, added_later: 1 }))).toEqual([]);
});

describe('the check can tell', () => {
  const find = (code: ErrorCode): HeardAnswer => heard.find((answer) => codeOf(answer) === code) as HeardAnswer;
  const changed = (answer: HeardAnswer, change: Record<string, unknown>): LiveAnswer => {
    const body = { ...(JSON.parse(answer.body) as object), ...change };
    return { ...answer, body: JSON.stringify(body) };
  };
  const faultsOf = (answer: HeardAnswer, change: Partial<LiveAnswer>): string[] =>
    documents[answer.service].faultsOf({ ...answer, ...change });

  test.each<[string, () => string[]]>([
    [
      'a refusal without a member of its code',
      () => faultsOf(find('SEATS_UNAVAILABLE'), changed(find('SEATS_UNAVAILABLE'), { seat_ids: undefined })),
    ],
    [
      'a member of another type',
      () => faultsOf(find('TICKET_LIMIT_REACHED'), changed(find('TICKET_LIMIT_REACHED'), { limit: '4' })),
    ],
    ['an id that is none', () => faultsOf(find('ALL_SEATS_HELD'), changed(find('ALL_SEATS_HELD'), { sector_id: 'east' }))],
    ['a time that is none', () => faultsOf(find('ALL_SEATS_HELD'), changed(find('ALL_SEATS_HELD'), { next_expiry_at: 'soon' }))],
    ['a value that is not listed', () => faultsOf(find('QUEUE_CLOSED'), changed(find('QUEUE_CLOSED'), { reason: 'tired' }))],
    [
      'a code this call is never refused with',
      () => faultsOf(find('PAYMENT_REFUSED'), changed(find('PAYMENT_REFUSED'), { code: 'SOLD_OUT' })),
    ],
    ['a code nobody knows', () => faultsOf(find('SOLD_OUT'), changed(find('SOLD_OUT'), { code: 'GONE_FISHING' }))],
    ['a status that is not named', () => faultsOf(find('NOT_FOUND'), { status: 418 })],
    ['a defect', () => faultsOf(find('NOT_FOUND'), { status: 500 })],
    ['another content type', () => faultsOf(find('NOT_FOUND'), { type: 'application/json' })],
    ['a body where there is none', () => faultsOf(heard.find(({ status }) => status === 204) as HeardAnswer, { body: '{}' })],
    ['a call nobody knows', () => faultsOf(find('NOT_FOUND'), { path: '/api/v1/elsewhere' })],
  ])('%s', (_, faults) => {
    expect(faults()).not.toEqual([]);
  });
});

test('a key used for two different requests is told so', async () => {
  const listener = new AnswerListener(system);
  const key = newKey();
  for (const locale of ['hr', 'en'])
    await listener.ask('monolith', 'PUT', '/me', { as: randomUUID(), key, body: { email: null, name: null, locale } });
  expect(listener.heard.map(codeOf)).toEqual([undefined, 'IDEMPOTENCY_KEY_REUSED']);
  expect(listener.heard.flatMap((answer) => documents.monolith.faultsOf(answer))).toEqual([]);
});
