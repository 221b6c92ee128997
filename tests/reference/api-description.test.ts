import { lintFromString, loadConfig } from '@redocly/openapi-core';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { faultsOf, propertyFaults } from './api-description.ts';
import type { OpenApiDocument } from './openapi-document.ts';

// The quality of the API descriptions for those who write a client. running-services.db.test.ts compares the files with what the
// services serve, so this test only reads the files: after a change run `npm run docs` first.

const documents = {
  monolith: 'docs/reference/openapi.monolith.json',
  'queue service': 'docs/reference/openapi.queue-service.json',
};
const textOf = (name: keyof typeof documents): string => readFileSync(documents[name], 'utf8');
const read = (name: keyof typeof documents) => JSON.parse(textOf(name)) as OpenApiDocument;

/** The findings of Redocly with the rules of redocly.yaml, warnings included. */
async function redoclyFindings(source: string): Promise<string[]> {
  const config = await loadConfig({ configPath: 'redocly.yaml' });
  const findings = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return findings.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`);
}

describe.each(Object.keys(documents) as (keyof typeof documents)[])('the API description of the %s', (name) => {
  test('names, describes and shows everything that a client needs', () => {
    expect(faultsOf(read(name))).toEqual([]);
  });

  test('Redocly finds no error and no warning', async () => {
    expect(await redoclyFindings(textOf(name))).toEqual([]);
  });

  test('has the version of the project, and the default URL as its server', () => {
    const { info, servers } = read(name);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect([info.version, servers.map(({ url }) => url)]).toEqual([
      version,
      [`http://127.0.0.1:${name === 'monolith' ? 3000 : 3001}`],
    ]);
  });
});

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Editable = any;

/** The monolith's document with one change. */
function changed(change: (document: Editable) => void): OpenApiDocument {
  const document = read('monolith');
  change(document);
  return document;
}
const getMatch = (document: Editable) => document.paths['/api/v1/matches/{id}'].get;

describe('negative control', () => {
  test.each<[string, RegExp, (document: Editable) => void]>([
    ['an operation id of Nest', /MatchesController_one/, (api) => (getMatch(api).operationId = 'MatchesController_one')],
    ['an operation id of one word', /`match` is no operation id/, (api) => (getMatch(api).operationId = 'match')],
    ['two operations with one id', /another operation has the id/, (api) => (getMatch(api).operationId = 'listMatches')],
    ['an operation without a tag', /ApiTags/, (api) => (getMatch(api).tags = [])],
    ['an unknown tag', /api-facts/, (api) => (getMatch(api).tags = ['weather'])],
    ['a tag without a description', /`matches` has no description/, (api) => delete api.tags[0].description],
    ['a tag that no operation has', /no operation has/, (api) => api.tags.push({ name: 'gates', description: 'Gates.' })],
    ['no summary', /summary/, (api) => delete getMatch(api).summary],
    ['no description', /description \}/, (api) => delete getMatch(api).description],
    ['a parameter without a description', /the parameter `id`/, (api) => delete getMatch(api).parameters[0].description],
    [
      'a field without a description',
      /Match\.home has no/,
      (api) => delete api.components.schemas.Match.properties.home.description,
    ],
    [
      'a field inside a field without a description',
      /Match\.sale\.status has no/,
      (api) => delete api.components.schemas.Match.properties.sale.properties.status.description,
    ],
    [
      'a field in a variant of a body without a description',
      /HoldRequest\.quantity has no/,
      (api) => delete api.components.schemas.HoldRequest.anyOf[0].properties.quantity.description,
    ],
    [
      'a field in a list without a description',
      /Order\.timeline\.event has no/,
      (api) => delete api.components.schemas.Order.properties.timeline.items.properties.event.description,
    ],
    [
      'a field that is null without a reason',
      /Match\.cancelled_at does not say/,
      (api) => (api.components.schemas.Match.properties.cancelled_at.description = 'When the match was cancelled'),
    ],
    [
      'an answer without an example',
      /the answer/,
      (api) => delete getMatch(api).responses[200].content['application/json'].example,
    ],
    [
      'a stream without an example',
      /text\/event-stream/,
      (api) => delete api.paths['/api/v1/matches/{id}/availability'].get.responses[200].content['text/event-stream'].example,
    ],
    [
      'a body without an example',
      /the request body/,
      (api) => delete api.paths['/api/v1/ops/matches'].post.requestBody.content['application/json'].examples,
    ],
    [
      'a refusal without an example',
      /404 NOT_FOUND has no example/,
      (api) => delete getMatch(api).responses[404].content['application/problem+json'].examples.NOT_FOUND,
    ],
    ['no version', /version/, (api) => (api.info.version = '')],
    ['no license', /license/, (api) => delete api.info.license],
    ['no server', /servers/, (api) => (api.servers = [])],
  ])('the check reports %s', (_, fault, change) => {
    const faults = faultsOf(changed(change));
    expect(faults).not.toEqual([]);
    expect(faults).toEqual(faults.map(() => expect.stringMatching(fault) as string));
  });

  test.each<[string, RegExp, (document: Editable) => void]>([
    ['an operation without an id', /^operation-operationId/, (api) => delete getMatch(api).operationId],
    [
      'an operation without a success',
      /^operation-2xx-response/,
      (api) => (getMatch(api).responses = { 404: getMatch(api).responses[404] }),
    ],
    ['an unknown security scheme', /^security-defined/, (api) => (getMatch(api).security = [{ cookie: [] }])],
    ['a member that OpenAPI does not have', /^struct/, (api) => (getMatch(api).answers = {})],
    [
      'a $ref without a target',
      /^no-unresolved-refs/,
      (api) => (getMatch(api).responses[404] = { $ref: '#/components/responses/Gone' }),
    ],
    ['an unused schema', /^no-unused-components/, (api) => (api.components.schemas.Gone = { type: 'string' })],
    [
      'an answer whose example its schema forbids',
      /^no-invalid-media-type-examples/,
      (api) => (getMatch(api).responses[200].content['application/json'].example.queue_required = 'no'),
    ],
    [
      'an answer whose example has a field that its schema lacks',
      /^no-invalid-media-type-examples/,
      (api) => (getMatch(api).responses[200].content['application/json'].example.stadium = 'Poljud'),
    ],
    [
      'a body whose example its schema forbids',
      /^no-invalid-media-type-examples/,
      (api) => {
        const [example] = Object.values<Editable>(
          api.paths['/api/v1/ops/matches'].post.requestBody.content['application/json'].examples,
        );
        example.value.max_tickets_per_fan = 0;
      },
    ],
    [
      'a refusal whose example lacks a member',
      /^no-invalid-media-type-examples/,
      (api) => delete api.components.examples.SEATS_UNAVAILABLE.value.seat_ids,
    ],
  ])('Redocly reports %s', async (_, rule, change) => {
    const document = changed((api) => {
      // A few paths are enough here, and take a tenth of the time.
      const used = ['/api/v1/matches/{id}', '/api/v1/matches/{id}/reservations', '/api/v1/ops/matches'];
      api.paths = Object.fromEntries(used.map((path) => [path, api.paths[path]]));
      change(api);
    });
    expect(await redoclyFindings(JSON.stringify(document))).toContainEqual(expect.stringMatching(rule));
  });

  test('redocly.yaml takes the recommended rules, and switches none of them off without a reason beside it', () => {
    const text = readFileSync('redocly.yaml', 'utf8');
    const { extends: taken, ...sections } = parse(text) as { extends: string[] } & Record<string, object>;
    expect(taken).toEqual(['recommended']);
    expect(Object.keys(sections).filter((section) => !/rules$/i.test(section))).toEqual([]);
    const withReason = [...text.matchAll(/^ {2}# .+\n {2}([\w-]+):/gm)].map(([, rule]) => rule);
    const changedRules = Object.values<object>(sections).flatMap((rules) => Object.keys(rules));
    expect(changedRules.filter((rule) => !withReason.includes(rule))).toEqual([]);
  });
});

describe('the description of the WebSocket and the event stream', () => {
  const source = readFileSync('docs/reference/asyncapi.queue-service.json', 'utf8');
  const asyncApi = (change?: (document: Editable) => void): Editable => {
    const document = JSON.parse(source) as Editable;
    change?.(document);
    return document;
  };

  /** Parts without the texts that a reader needs, and channels without their server. */
  function socketFaults({ info, servers, channels, operations, components, ...document }: Editable): string[] {
    const parts = [servers, channels, operations].flatMap((all) => Object.entries<Editable>(all));
    const messages = Object.entries<Editable>(components.messages);
    const closings = Object.values<string>(document['x-close-codes']);
    return [
      ...['version', 'description', 'license', 'contact', 'tags', 'externalDocs'].filter((name) => !info[name]),
      ...parts.filter(([, { description }]) => !description).map(([name]) => `${name} has no description`),
      ...Object.entries<Editable>({ ...channels, ...operations })
        .filter(([, { summary, title }]) => !summary || !title)
        .map(([name]) => `${name} has no title or summary`),
      ...Object.entries<Editable>(channels)
        .filter(([, channel]) => channel.servers?.length !== 1)
        .map(([name]) => `${name} does not name its server`),
      ...messages.filter(([, { summary, title }]) => !summary || !title).map(([name]) => `${name} has no title or summary`),
      ...messages.filter(([, { examples = [] }]) => examples.length === 0).map(([name]) => `${name} has no example`),
      ...messages.flatMap(([name, { payload }]) => propertyFaults(payload, name)),
      ...(closings.length > 5 && closings.every((text) => channels.socket.description.includes(text)) ? [] : ['close codes']),
    ];
  }

  test('describes all its parts, with examples and the meaning of every close code', () => {
    expect(socketFaults(asyncApi())).toEqual([]);
  });

  test('Redocly finds no error and no warning', async () => {
    expect(await redoclyFindings(source)).toEqual([]);
    const wrong = asyncApi((document) => delete document.operations.sendToSocket.channel);
    expect(await redoclyFindings(JSON.stringify(wrong))).not.toEqual([]);
  });

  test.each<[string, (document: Editable) => void]>([
    ['version', (api) => delete api.info.version],
    ['tags', (api) => delete api.info.tags],
    ['socket has no description', (api) => delete api.servers.socket.description],
    ['sendToStream has no description', (api) => delete api.operations.sendToStream.description],
    ['stream does not name its server', (api) => delete api.channels.stream.servers],
    ['turn_granted has no title or summary', (api) => delete api.components.messages.turn_granted.summary],
    ['turn_granted has no example', (api) => delete api.components.messages.turn_granted.examples],
    [
      'turn_granted.checkout_url has no description',
      (api) => delete api.components.messages.turn_granted.payload.properties.checkout_url.description,
    ],
    ['close codes', (api) => (api['x-close-codes'][4508] = 'the moon is full')],
  ])('the check reports: %s', (fault, change) => {
    expect(socketFaults(asyncApi(change))).toEqual([fault]);
  });
});

test('the calls and fields that integrators asked for are described', () => {
  const { paths, components } = read('monolith');
  expect(paths['/api/v1/ops/matches/{id}/cancel']?.post?.operationId).toBe('cancelMatch');
  const seats = paths['/api/v1/matches/{id}/sectors/{sid}/seats']?.get;
  expect(seats?.parameters).toContainEqual(expect.objectContaining({ name: 'since', in: 'query' }));
  for (const name of ['Match', 'OpsMatch'])
    expect(components.schemas[name]).toHaveProperty('properties.cancelled_at.description');
});
