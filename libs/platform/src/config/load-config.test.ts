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
