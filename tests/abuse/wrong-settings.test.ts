import { developmentSecrets } from '#platform/config/settings';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { configs, settingsFaults } from '../deployment/manifests-and-settings.ts';

// Attack: an operator starts a process in production with settings that let anybody in: a public secret in another spelling, a secret
// that can be guessed, keys of the identity provider over plain HTTP, no rate limit. Each of them must end with exit code 78 and one
// clear sentence.

type Service = keyof typeof configs;
const services = Object.keys(configs) as Service[];

/** Settings with which every service starts in production. */
const production: Readonly<Record<string, string>> = {
  NODE_ENV: 'production',
  BIND_HOST: '0.0.0.0',
  DATABASE_URL: 'postgres://tribina@10.20.0.5/tribina',
  REDIS_URL: 'rediss://10.20.1.5:6379',
  AUTH_MODE: 'jwt',
  JWT_JWKS_URL: 'https://id.example.org/keys',
  JWT_ISSUER: 'https://id.example.org/',
  JWT_AUDIENCE: 'tribina',
  INTERNAL_AUTH_SECRET: randomBytes(32).toString('base64'),
  QUEUE_RECEIPT_SECRET: randomBytes(32).toString('hex'),
  TICKET_SIGNING_KEY: randomBytes(32).toString('base64'),
  PAYMENT_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: 'sk_live_0',
  STRIPE_WEBHOOK_SECRET: `whsec_${randomBytes(24).toString('hex')}`,
  EMAIL_PROVIDER: 'smtp',
  SMTP_URL: 'smtps://mail.example.org',
  PUSH_PROVIDER: 'none',
};

const faultsWith = (service: Service, settings: Readonly<Record<string, string>>): readonly string[] =>
  settingsFaults(service, { ...production, ...settings });

test.each(services)('%s starts in production with random secrets in hex, base64 and as text', (service) => {
  expect(faultsWith(service, {})).toEqual([]);
  const asText = { INTERNAL_AUTH_SECRET: 'correct horse battery staple and a giraffe' };
  expect(faultsWith(service, asText)).toEqual([]);
});

const bytesOf = {
  INTERNAL_AUTH_SECRET: Buffer.from(developmentSecrets.INTERNAL_AUTH_SECRET),
  QUEUE_RECEIPT_SECRET: Buffer.from(developmentSecrets.QUEUE_RECEIPT_SECRET),
  TICKET_SIGNING_KEY: Buffer.from(developmentSecrets.TICKET_SIGNING_KEY, 'base64'),
};
const readers = {
  INTERNAL_AUTH_SECRET: 'queue-service',
  QUEUE_RECEIPT_SECRET: 'queue-service',
  TICKET_SIGNING_KEY: 'monolith',
} as const;
type OwnSecret = keyof typeof readers;
const ownSecrets = Object.keys(readers) as OwnSecret[];

const spellings: readonly [string, (bytes: Buffer) => string][] = [
  ['hex', (bytes) => bytes.toString('hex')],
  ['hex in capital letters', (bytes) => bytes.toString('hex').toUpperCase()],
  ['base64', (bytes) => bytes.toString('base64')],
  ['base64 without padding', (bytes) => bytes.toString('base64').replace(/=+$/, '')],
  ['base64url', (bytes) => bytes.toString('base64url')],
  ['base64 with a space in it', (bytes) => bytes.toString('base64').replace(/^.{8}/, '$& ')],
  ['UTF-8', (bytes) => bytes.toString('utf8')],
];
const defaultsInDisguise = ownSecrets.flatMap((name) =>
  spellings.map(([spelling, write]) => [name, spelling, write(bytesOf[name])] as const),
);

test.each(defaultsInDisguise)('production: the default of %s in %s is refused', (name, _spelling, text) => {
  expect(faultsWith(readers[name], { [name]: text })).toContainEqual(expect.stringMatching(new RegExp(`^${name}: `)));
});

test.each(['INTERNAL_AUTH_SECRET', 'QUEUE_RECEIPT_SECRET'] as const)(
  'production: the default of another secret is refused as %s',
  (name) => {
    const other = name === 'QUEUE_RECEIPT_SECRET' ? 'INTERNAL_AUTH_SECRET' : 'QUEUE_RECEIPT_SECRET';
    expect(faultsWith('queue-service', { [name]: developmentSecrets[other] })).toHaveLength(1);
  },
);

const weak: readonly [OwnSecret, string, string][] = [
  ['INTERNAL_AUTH_SECRET', 'of one letter', 'x'.repeat(44)],
  ['INTERNAL_AUTH_SECRET', 'of 7 different letters', 'abcdefg'.repeat(6)],
  ['INTERNAL_AUTH_SECRET', 'of 7 different bytes in hex', Buffer.from('abcdefg'.repeat(5)).toString('hex')],
  ['INTERNAL_AUTH_SECRET', 'of zeros in base64', Buffer.alloc(32).toString('base64')],
  ['QUEUE_RECEIPT_SECRET', 'of 15 bytes in hex, too short', '00112233445566778899aabbccddee'],
  ['QUEUE_RECEIPT_SECRET', 'of zeros in hex', '0'.repeat(64)],
  ['TICKET_SIGNING_KEY', 'of one byte 32 times', Buffer.alloc(32, 7).toString('base64')],
  ['TICKET_SIGNING_KEY', 'of 7 different bytes', Buffer.from('abcdefg'.repeat(5).slice(0, 32)).toString('base64')],
];

test.each(weak)('production: a %s %s is refused', (name, _what, text) => {
  expect(faultsWith(readers[name], { [name]: text })).toEqual([expect.stringMatching(new RegExp(`^${name}: `))]);
  // In development only the length counts.
  if (text.length >= 32) expect(settingsFaults(readers[name], { ...production, NODE_ENV: 'test', [name]: text })).toEqual([]);
});

test('production: in a list of secrets each one is checked', () => {
  const good = randomBytes(32).toString('base64');
  const lists = [
    `${developmentSecrets.INTERNAL_AUTH_SECRET},${good}`,
    `${good},${developmentSecrets.INTERNAL_AUTH_SECRET}`,
    `${good},${'x'.repeat(44)}`,
  ];
  for (const list of lists) expect(faultsWith('queue-service', { INTERNAL_AUTH_SECRET: list })).toHaveLength(1);
  expect(faultsWith('queue-service', { INTERNAL_AUTH_SECRET: `${good}, ${randomBytes(32).toString('hex')}` })).toEqual([]);
});

const openDoors: readonly [Service, string, string][] = [
  ['monolith', 'JWT_JWKS_URL', 'http://id.example.org/keys'],
  ['queue-service', 'JWT_JWKS_URL', 'http://id.example.org/keys'],
  ...services.flatMap((service): [Service, string, string][] => [
    [service, 'RATE_LIMIT_IP_PER_MINUTE', '0'],
    [service, 'RATE_LIMIT_USER_PER_MINUTE', '0'],
  ]),
  ['monolith', 'AUTH_MODE', 'mock'],
  ['queue-service', 'AUTH_MODE', 'mock'],
  ['monolith', 'PAYMENT_PROVIDER', 'sandbox'],
  ['notification-worker', 'EMAIL_PROVIDER', 'mailbox'],
  ['notification-worker', 'PUSH_PROVIDER', 'mailbox'],
];

test.each(openDoors)('production: %s with %s=%s is refused, and starts with the same setting in test', (service, name, value) => {
  expect(faultsWith(service, { [name]: value })).toEqual([
    expect.stringMatching(new RegExp(`^${name}: .+ refused in production`)),
  ]);
  const inTest = { NODE_ENV: 'test', ALLOW_MOCK_ON_NETWORK: 'true', [name]: value };
  expect(faultsWith(service, inTest)).toEqual([]);
});

test('the process ends with exit code 78 and names every fault in a sentence of its own, without a value', () => {
  const secret = Buffer.from(developmentSecrets.INTERNAL_AUTH_SECRET).toString('hex');
  const program = path.join(import.meta.dirname, 'settings-reader.ts');
  const env = {
    ...{ PATH: process.env.PATH, ...production },
    ...{
      INTERNAL_AUTH_SECRET: secret,
      JWT_JWKS_URL: 'http://id.example.org/keys',
      RATE_LIMIT_IP_PER_MINUTE: '0',
      LOG_LEVEL: 'loud',
    },
  };
  const args = [
    '--conditions=source',
    '--experimental-transform-types',
    '--disable-warning=ExperimentalWarning',
    program,
    'queue-service',
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  expect([status, stdout]).toEqual([78, '']);
  const names = ['LOG_LEVEL', 'JWT_JWKS_URL', 'RATE_LIMIT_IP_PER_MINUTE', 'INTERNAL_AUTH_SECRET'];
  expect(stderr.split('\n').filter((line) => line.startsWith('  - '))).toHaveLength(names.length);
  for (const name of names) expect(stderr).toMatch(new RegExp(`^ {2}- ${name}: .{10,160}$`, 'm'));
  expect(stderr).not.toContain(secret);
});
