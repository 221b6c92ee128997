import { parseSources, readSources } from './configured-sources.ts';

const http = { name: 'gate-north', kind: 'http', url: 'http://127.0.0.1:1/events' };
const faultsOf = (content: unknown, env = {}) => parseSources(content, env, '/etc/tribina').faults;

test('a configuration with each kind of source is parsed, and defaults and secrets are filled in', () => {
  const { sources, faults } = parseSources(
    [
      { ...http, headers: { 'X-Api-Key': 'k-${GATE_KEY}' }, overlap: 5 },
      { name: 'stripe', kind: 'stripe' },
      { name: 'partner', kind: 'file', path: 'partner.ndjson' },
    ],
    { GATE_KEY: 'secret', STRIPE_SECRET_KEY: 'sk_1' },
    '/etc/tribina',
  );
  expect(faults).toEqual([]);
  expect(sources).toEqual([
    { ...http, headers: { 'x-api-key': 'k-secret' }, overlap: 5, ids: 'numbers' },
    {
      ...{
        name: 'stripe',
        kind: 'stripe',
        url: 'https://api.stripe.com/v1/events',
        overlap: 0,
        ids: 'listed',
        feeds: 'payments',
      },
      headers: { authorization: 'Bearer sk_1' },
    },
    { name: 'partner', kind: 'file', path: '/etc/tribina/partner.ndjson', overlap: 0, ids: 'numbers' },
  ]);
});

test('a Stripe source whose URL has no path gets the path /v1/events', () => {
  const { sources } = parseSources([{ name: 's', kind: 'stripe', url: 'http://127.0.0.1:9' }], { STRIPE_SECRET_KEY: 'k' }, '/');
  expect(sources[0]).toMatchObject({ url: 'http://127.0.0.1:9/v1/events' });
});

test('all faults of the configuration file are reported together, each with source and field, without secrets', () => {
  const faults = faultsOf([
    { ...http, name: 'Not A Name' },
    { ...http, url: 'ftp://x' },
    { ...http, kind: 'kafka' },
    { ...http, overlap: 501, colour: 'red' },
    { name: 'file', kind: 'file' },
    { ...http, url: 'https://user:canary@x/' },
  ]);
  expect(faults.map((fault) => fault.slice(0, 3))).toEqual(['[0]', '[1]', '[2]', '[3]', '[3]', '[4]', '[5]']);
  expect(faults[1]).toMatch(/^\[1\] \(gate-north\)\.url: /);
  expect(faults.join()).not.toContain('canary');
});

test.each<[string, unknown, object, RegExp]>([
  ['content that is not a list', { name: 'x' }, {}, /expected array/],
  ['an empty list', [], {}, /at least one/],
  ['two sources with the same name', [http, http], {}, /^gate-north: the name is used twice/],
  [
    'a secret that is not in the environment',
    [{ ...http, headers: { a: '${NOT_SET}' } }],
    {},
    /NOT_SET is not in the environment/,
  ],
  ['a header value with a line break', [{ ...http, headers: { a: '${KEY}' } }], { KEY: 'x\ny' }, /cannot be sent/],
  ['a Stripe source without a key', [{ name: 's', kind: 'stripe' }], {}, /STRIPE_SECRET_KEY/],
  ['an overlap for ids that have no order', [{ name: 's', kind: 'stripe', overlap: 3 }], { STRIPE_SECRET_KEY: 'x' }, /overlap/],
])('the configuration of sources: %s is a fault', (_case, content, env, fault) => {
  expect(faultsOf(content, env)).toEqual([expect.stringMatching(fault)]);
});

test('a configuration file that is missing or is not JSON is a fault', () => {
  expect(readSources('/nowhere/sources.json', {}).faults).toEqual(['/nowhere/sources.json cannot be read (ENOENT)']);
  expect(readSources(import.meta.filename, {}).faults[0]).toMatch(/is not JSON$/);
});
