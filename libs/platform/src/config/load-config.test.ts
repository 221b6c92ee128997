import { ConfigFaults, loadConfig } from './load-config.ts';
import * as slices from './settings.ts';

const schema = slices.processSettings
  .extend(slices.databaseSettings.shape)
  .extend(slices.addressSettings.shape)
  .extend(slices.authenticationSettings.shape)
  .extend(slices.paymentSettings.shape)
  .extend(slices.notificationSettings.shape);

const minimalEnv = { DATABASE_URL: 'postgres://u:p@127.0.0.1:5555/d' };

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(schema, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigFaults) return error.faults;
    throw error;
  }
}

test('loadConfig: only DATABASE_URL is required, the other settings have defaults', () => {
  const config = loadConfig(schema, minimalEnv);
  expect(config).toMatchObject({
    MONOLITH_PORT: 3000,
    AUTH_MODE: 'mock',
    NOTIFICATION_RETRY_SECONDS: [30, 300],
    CORS_ORIGINS: [],
  });
  expect(slices.publicUrls(config)).toEqual({
    monolithInternalUrl: 'http://127.0.0.1:3000',
    publicUrl: 'http://127.0.0.1:3000',
    queuePublicUrl: 'http://127.0.0.1:3001',
    queueInternalUrl: 'http://127.0.0.1:3001',
  });
});

test('loadConfig: all faulty settings are reported at once, without their values', () => {
  const faults = faultsOf({
    MONOLITH_PORT: '70000',
    QUEUE_PORT: '3x',
    TRUSTED_PROXIES: '1',
    AUTH_MODE: 'jwt',
    INTERNAL_AUTH_SECRET: 'short-secret',
  });
  expect(faults.map((fault) => fault.split(':')[0])).toEqual(
    expect.arrayContaining([
      'DATABASE_URL',
      'MONOLITH_PORT',
      'QUEUE_PORT',
      'TRUSTED_PROXIES',
      'JWT_JWKS_URL',
      'JWT_ISSUER',
      'INTERNAL_AUTH_SECRET',
    ]),
  );
  expect(faults.join(' ')).not.toContain('short-secret');
});

test('loadConfig: an empty or blank variable counts as absent', () => {
  expect(loadConfig(schema, { ...minimalEnv, MONOLITH_PORT: ' ' }).MONOLITH_PORT).toBe(3000);
});

test('loadConfig: production refuses mock logins, default secrets, the simulated payment provider and the mailboxes that send nothing', () => {
  const faults = faultsOf({ ...minimalEnv, NODE_ENV: 'production' });
  for (const name of [
    'AUTH_MODE',
    'INTERNAL_AUTH_SECRET',
    'PAYMENT_PROVIDER',
    'STRIPE_WEBHOOK_SECRET',
    'EMAIL_PROVIDER',
    'PUSH_PROVIDER',
  ]) {
    expect(faults.some((fault) => fault.startsWith(`${name}:`))).toBe(true);
  }
});

test.each([
  ['development', []],
  ['test', []],
  [undefined, []],
  ['prod', ['NODE_ENV']],
  ['Production', ['NODE_ENV']],
  ['staging', ['NODE_ENV']],
])('loadConfig: NODE_ENV=%s has the faults %o', (NODE_ENV, faulty) => {
  const env = { ...minimalEnv, ...(NODE_ENV === undefined ? {} : { NODE_ENV }) };
  expect(faultsOf(env).map((fault) => fault.split(':')[0])).toEqual(faulty);
});

const REFUSED_ON_NETWORK =
  'AUTH_MODE: mock is refused when BIND_HOST is not a loopback address, unless ALLOW_MOCK_ON_NETWORK is true';
const IN_PRODUCTION = 'AUTH_MODE: mock is refused in production';

test.each([
  ['development', '127.0.0.1', undefined, []],
  ['development', '127.9.9.9', undefined, []],
  ['development', '::1', undefined, []],
  ['development', '::ffff:127.0.0.1', undefined, []],
  ['development', 'localhost', undefined, []],
  ['development', '0.0.0.0', undefined, [REFUSED_ON_NETWORK]],
  ['development', '::', undefined, [REFUSED_ON_NETWORK]],
  ['development', '192.168.1.5', undefined, [REFUSED_ON_NETWORK]],
  ['development', '127.0.0.1.example.org', undefined, [REFUSED_ON_NETWORK]],
  ['test', '0.0.0.0', undefined, [REFUSED_ON_NETWORK]],
  ['test', '0.0.0.0', 'false', [REFUSED_ON_NETWORK]],
  ['test', '0.0.0.0', 'true', []],
  ['development', '0.0.0.0', 'true', []],
  ['production', '127.0.0.1', 'true', [IN_PRODUCTION]],
  ['production', '0.0.0.0', 'true', [IN_PRODUCTION]],
])(
  'loadConfig: mock callers with NODE_ENV=%s, BIND_HOST=%s, ALLOW_MOCK_ON_NETWORK=%s have the faults %o',
  (mode, host, allow, expected) => {
    const env = {
      ...minimalEnv,
      NODE_ENV: mode,
      BIND_HOST: host,
      ...(allow === undefined ? {} : { ALLOW_MOCK_ON_NETWORK: allow }),
    };
    expect(faultsOf(env).filter((fault) => fault.startsWith('AUTH_MODE:'))).toEqual(expected);
  },
);

test('loadConfig: callers with tokens are allowed on every address', () => {
  const jwt = {
    AUTH_MODE: 'jwt',
    JWT_JWKS_URL: 'https://id.example/keys',
    JWT_ISSUER: 'https://id.example',
    JWT_AUDIENCE: 'shop',
  };
  expect(faultsOf({ ...minimalEnv, ...jwt, BIND_HOST: '0.0.0.0' })).toEqual([]);
});

test.each([
  [{}, 'http://127.0.0.1:3000'],
  [{ MONOLITH_PORT: '4000', BIND_HOST: '0.0.0.0' }, 'http://127.0.0.1:4000'],
  [{ BIND_HOST: '::' }, 'http://127.0.0.1:3000'],
  [{ BIND_HOST: '::1' }, 'http://[::1]:3000'],
  [{ BIND_HOST: '192.168.1.5', PUBLIC_URL: 'https://tickets.example' }, 'http://192.168.1.5:3000'],
  [{ MONOLITH_INTERNAL_URL: 'http://monolith:3000/', MONOLITH_PORT: '4000' }, 'http://monolith:3000'],
])('the monolith with the settings %o calls itself at %s', (env, url) => {
  const config = loadConfig(schema, { ...minimalEnv, ALLOW_MOCK_ON_NETWORK: 'true', ...(env as Record<string, string>) });
  expect(slices.publicUrls(config).monolithInternalUrl).toBe(url);
});
