import { FakeStripe } from '../../../apps/monolith/src/payment/testing/fake-stripe.ts';
import type { ErrorCode } from '#contracts/error-catalogue';
import { randomUUID } from 'node:crypto';
import { callers, fillPath, validCall, closeSockets, needsKey, unknownIds, takesBody, type Call } from '../../bad-input/calls.ts';
import { monolithSamples, queueSamples } from '../../bad-input/samples.ts';
import { toJson } from '../../bad-input/shapes.ts';
import { newKey, openServices, openSystem, type Services, type System } from '../../bad-input/system.ts';
import { claimStory } from './claim-story.ts';
import { RecordingClient, type RecordedAnswer, type ServiceName } from './recording-client.ts';
import { FanActions, standingSector } from './fans.ts';
import { inviteStory } from './invite-story.ts';
import { lineStory, matchStory, profileStory, webhookStory } from './other-stories.ts';
import { holdStory, orderStory } from './purchase-stories.ts';
import { quotaStory } from './quota-story.ts';
import { DocumentedAnswers, type LiveAnswer } from './documented-answers.ts';
import { ChosenExamples } from './examples.ts';
import { responseHeaders } from '#platform/http/documented-headers';
import { recordedExamples } from '#contracts/recorded-examples';
import { isForOperators } from '#contracts/roles';
import { expectGenerated } from '../generated.ts';
import { operationsOf, type OpenApiDocument } from '../openapi-document.ts';

// Calls every operation of both services and validates each answer against the OpenAPI document that the service serves.

const names = ['monolith', 'queue'] as const;
const samples = { monolith: monolithSamples, queue: queueSamples };
const peer = new FakeStripe();
let system: System;
let limited: Services;
let documents: Record<ServiceName, DocumentedAnswers>;
let recorded: readonly RecordedAnswer[];

beforeAll(async () => {
  const base = await peer.start();
  system = await openSystem();
  limited = await openServices({
    ...{ PAYMENT_PROVIDER: 'stripe', STRIPE_API_BASE: base, STRIPE_SECRET_KEY: peer.secretKey },
    RATE_LIMIT_USER_PER_MINUTE: '3',
  });
  const documentOf = async (name: ServiceName): Promise<DocumentedAnswers> =>
    new DocumentedAnswers((await system[name].app.inject({ method: 'GET', url: '/openapi.json' })).json<OpenApiDocument>());
  documents = { monolith: await documentOf('monolith'), queue: await documentOf('queue') };
  recorded = [...(await runStories()), ...(await sendFaultyRequests()), ...(await reachLimits())];
}, 120_000);
afterAll(async () => {
  closeSockets();
  await system.close();
  await limited.close();
  await peer.stop();
});

async function runStories(): Promise<readonly RecordedAnswer[]> {
  const client = new RecordingClient(system);
  const fans = new FanActions(client, system);
  const quotaStories = [quotaStory, inviteStory, claimStory];
  for (const story of [holdStory, orderStory, matchStory, webhookStory, lineStory, profileStory, ...quotaStories])
    await story(fans);
  await fans.sendWebhook({ id: 'evt_2', type: 'charge.updated', data: { object: { id: 'ch_1' } } });
  await fans.sendWebhook({ id: 'evt_3' }, 't=1,v1=0');
  return client.answers;
}

/** Sends calls of every route with the faults that every route can have, such as a malformed body. */
async function sendFaultyRequests(): Promise<readonly RecordedAnswer[]> {
  const client = new RecordingClient(system);
  for (const name of names) {
    for (const route of system[name].routes) {
      const sample = samples[name][`${route.method} ${route.url}`];
      if (!sample) continue;
      const valid = (): Call => validCall(route, sample, system.ids);
      const json = { 'content-type': 'application/json' };
      const { access } = route.rules ?? {};
      const calls: (Call | false)[] = [
        route.method === 'GET' && valid(),
        access !== 'public' && { ...valid(), headers: json },
        (isForOperators(access) || access === 'partner') && { ...valid(), headers: { ...valid().headers, ...callers.fan } },
        route.url.includes(':') && { ...valid(), url: fillPath(route.url, unknownIds(route.url)) },
        route.url.includes(':') && {
          ...valid(),
          url: fillPath(route.url, { ...unknownIds(route.url), ...sameSegment('%00', route.url) }),
        },
        route.url.includes(':') && { ...valid(), url: fillPath(route.url, sameSegment('x'.repeat(200), route.url)) },
        takesBody(route) && { ...valid(), headers: { ...valid().headers, ...json }, payload: '{"no_such_field":1}' },
        takesBody(route) && { ...valid(), headers: { ...valid().headers, 'content-type': 'text/plain' }, payload: 'x' },
        takesBody(route) && { ...valid(), headers: { ...valid().headers, ...json }, payload: `"${'x'.repeat(2_200_000)}"` },
        needsKey(name, route) && { ...valid(), headers: { ...valid().headers, 'idempotency-key': 'none' } },
        needsKey(name, route) && { ...valid(), headers: { ...valid().headers, 'idempotency-key': '' } },
      ];
      for (const call of calls) if (call) await client.send(name, call);
    }
  }
  return client.answers;
}

const sameSegment = (segment: string, url: string): Record<string, string> =>
  Object.fromEntries([...url.matchAll(/:(\w+)/g)].map(([, parameter = '']) => [parameter, segment]));

/** Causes the answers of limits: one fan exceeds the rate limit, and the payment provider refuses a call. */
async function reachLimits(): Promise<readonly RecordedAnswer[]> {
  const client = new RecordingClient(limited);
  const fans = new FanActions(client, limited);
  const match = await fans.createMatch({ sectors: [standingSector('Cheap', 20, 50)] });
  const [rateLimitedFan, otherFan] = [randomUUID(), randomUUID()];
  const held = await fans.holdIn(match, 0, 1, rateLimitedFan);
  for (let attempt = 0; attempt < 3; attempt += 1) await fans.checkOut(held as never, rateLimitedFan);
  const secondHold = await fans.holdIn(match, 0, 1, otherFan);
  peer.faults.push('429');
  await fans.checkOut(secondHold as never, otherFan);
  return client.answers;
}

const operation = (answer: RecordedAnswer): string => `${answer.service}: ${documents[answer.service].operationOf(answer)}`;
const codeOf = ({ type, body }: LiveAnswer): ErrorCode | undefined =>
  type?.startsWith('application/problem+json') ? (JSON.parse(body) as { code: ErrorCode }).code : undefined;
/** Removes the request id from a body, so that answers that differ only in this id count as one. */
const withoutRequestId = (body: string): string => body.replace(/"request_id":"[^"]+"/, '');

test('every answer is as documented: the operation lists its status, and its body is valid by the schema', () => {
  const faults = recorded.flatMap((answer) =>
    documents[answer.service]
      .faultsOf(answer)
      .map((fault) => `${operation(answer)} ${answer.status} ${fault}: ${answer.body.slice(0, 300)}`),
  );
  expect(faults).toEqual([]);
  const distinct = new Set(recorded.map((answer) => `${operation(answer)} ${answer.status} ${withoutRequestId(answer.body)}`));
  expect(distinct.size).toBeGreaterThanOrEqual(150);
  expect(recorded.filter(({ status }) => status === 500)).toEqual([]);
});

test('for every operation, the calls of this test got every documented success and every documented refusal at least once', () => {
  const occurred = new Set(
    recorded.flatMap((answer) => [`${operation(answer)} ${answer.status}`, `${operation(answer)} ${codeOf(answer)}`]),
  );
  const documented = names.flatMap((name) =>
    operationsOf(documents[name].document).flatMap(({ path, method, operation: { responses } }) => {
      const route = system[name].routes.find(
        (candidate) => candidate.method === method && candidate.url.replaceAll(/:(\w+)/g, '{$1}') === path,
      );
      const successes = Object.keys(responses).filter((status) => /^[23]/.test(status));
      return [...successes, ...(route?.rules?.refusals ?? [])].map((what) => `${name}: ${method} ${path} ${what}`);
    }),
  );
  expect(documented.filter((what) => !occurred.has(what))).toEqual([]);
  expect(documented.length).toBeGreaterThan(90);
});

test('every answer has the headers that its operation documents, and no undocumented one', () => {
  const names = Object.keys(responseHeaders) as (keyof typeof responseHeaders)[];
  const faults = recorded.flatMap((answer) => headerFaults(answer, names));
  expect([...new Set(faults)]).toEqual([]);
  expect(names.filter((name) => !recorded.some(({ headers }) => headers[name.toLowerCase()]))).toEqual([]);
});

/** Differences between the headers of an answer and the document. Headers that the document never names do not count. */
function headerFaults(answer: RecordedAnswer, names: readonly (keyof typeof responseHeaders)[]): string[] {
  const documented = documents[answer.service].responseTo(answer)?.headers ?? {};
  return names.flatMap((name) => {
    const isThere = answer.headers[name.toLowerCase()] !== undefined;
    const isRequired = 'required' in responseHeaders[name] && name in documented;
    const fault = isThere && !(name in documented) ? 'is not documented' : !isThere && isRequired ? 'is missing' : undefined;
    return fault ? [`${operation(answer)} ${answer.status} ${name} ${fault}`] : [];
  });
}

test.each([
  ['monolith', 'monolith', recordedExamples.monolith],
  ['queue', 'queue-service', recordedExamples.queueService],
] as const)(
  'libs/contracts/src/examples: the examples of the %s have every field that its answers have',
  (name, file, stored) => {
    const ofService = recorded.filter(({ service }) => service === name);
    const chosen = new ChosenExamples(documents[name], ofService, stored).all();
    expectGenerated(`libs/contracts/src/examples/${file}.json`, `${JSON.stringify(chosen, null, 2)}\n`);
  },
);

test('the OpenAPI document allows additional members in answers, and forbids additional members in request bodies', () => {
  const withAddedMembers = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withAddedMembers);
    if (value === null || typeof value !== 'object') return value;
    return {
      // The prices of a quota are keyed by sector: a member of any other name would be no price.
      ...Object.fromEntries(
        Object.entries(value).map(([name, member]) => [
          name,
          name === 'price_cents' ? (member as unknown) : withAddedMembers(member),
        ]),
      ),
      added_later: { deep: 1 },
    };
  };
  // The report of a match is left out: its counts are keyed by status, so the document allows additional members only if they are
  // numbers, and `added_later` is an object.
  const answers = recorded.filter(
    ({ type, body, path }) => type?.includes('json') === true && body !== '' && !path.endsWith('/report'),
  );
  const faults = answers.flatMap((answer) =>
    documents[answer.service].faultsOf({ ...answer, body: JSON.stringify(withAddedMembers(JSON.parse(answer.body))) }),
  );
  expect(faults).toEqual([]);
  expect(answers.length).toBeGreaterThan(150);
  const bodies = names.flatMap((name) =>
    Object.entries(samples[name]).flatMap(([call, { bodies: shapes = [] }]) =>
      shapes.map((shape) => ({
        name,
        call: call.replaceAll(/:(\w+)/g, '{$1}'),
        body: JSON.parse(toJson(shape.valid(system.ids))) as object,
      })),
    ),
  );
  expect(bodies.filter(({ name, call, body }) => !documents[name].allowsBody(call, body))).toEqual([]);
  expect(bodies.filter(({ name, call, body }) => documents[name].allowsBody(call, { ...body, added_later: 1 }))).toEqual([]);
});

describe('negative control', () => {
  const find = (code: ErrorCode): RecordedAnswer => recorded.find((answer) => codeOf(answer) === code) as RecordedAnswer;
  const changed = (answer: RecordedAnswer, change: Record<string, unknown>): LiveAnswer => {
    const body = { ...(JSON.parse(answer.body) as object), ...change };
    return { ...answer, body: JSON.stringify(body) };
  };
  const faultsOf = (answer: RecordedAnswer, change: Partial<LiveAnswer>): string[] =>
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
    ['an invalid id', () => faultsOf(find('ALL_SEATS_HELD'), changed(find('ALL_SEATS_HELD'), { sector_id: 'east' }))],
    ['an invalid time', () => faultsOf(find('ALL_SEATS_HELD'), changed(find('ALL_SEATS_HELD'), { next_expiry_at: 'soon' }))],
    [
      'a value outside the documented enum',
      () => faultsOf(find('QUEUE_CLOSED'), changed(find('QUEUE_CLOSED'), { reason: 'tired' })),
    ],
    [
      'a code that is not documented for the call',
      () => faultsOf(find('PAYMENT_REFUSED'), changed(find('PAYMENT_REFUSED'), { code: 'SOLD_OUT' })),
    ],
    ['an unknown code', () => faultsOf(find('SOLD_OUT'), changed(find('SOLD_OUT'), { code: 'GONE_FISHING' }))],
    ['an undocumented status', () => faultsOf(find('NOT_FOUND'), { status: 418 })],
    ['a status 500', () => faultsOf(find('NOT_FOUND'), { status: 500 })],
    ['another content type', () => faultsOf(find('NOT_FOUND'), { type: 'application/json' })],
    [
      'a body where none is documented',
      () => faultsOf(recorded.find(({ status }) => status === 204) as RecordedAnswer, { body: '{}' }),
    ],
    [
      'an undocumented header',
      () => headerFaults({ ...find('NOT_FOUND'), headers: { ...find('NOT_FOUND').headers, location: '/x' } }, ['Location']),
    ],
    ['a missing header', () => headerFaults({ ...find('NOT_FOUND'), headers: {} }, ['X-Request-Id'])],
    ['an undocumented path', () => faultsOf(find('NOT_FOUND'), { path: '/api/v1/elsewhere' })],
  ])('the check of live answers reports %s', (_, faults) => {
    expect(faults()).not.toEqual([]);
  });
});

test('a different request with a reused idempotency key is refused with IDEMPOTENCY_KEY_REUSED, as documented', async () => {
  const client = new RecordingClient(system);
  const key = newKey();
  for (const locale of ['hr', 'en'])
    await client.request('monolith', 'PUT', '/me', { as: randomUUID(), key, body: { email: null, name: null, locale } });
  expect(client.answers.map(codeOf)).toEqual([undefined, 'IDEMPOTENCY_KEY_REUSED']);
  expect(client.answers.flatMap((answer) => documents.monolith.faultsOf(answer))).toEqual([]);
});
