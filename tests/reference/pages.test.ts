import { globSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { queueEvent } from '#contracts/integration-events';
import { emailJob, pushJob, queueSchemas } from '#contracts/queue-jobs';
import { queueKeys } from '#contracts/queue-keys';
import * as settings from '#platform/config/settings';
import { loaderConfig, migrateSettings, monolithConfig } from '../../apps/monolith/src/config.ts';
import { workerConfig } from '../../apps/notification-worker/src/config.ts';
import { queueServiceConfig } from '../../apps/queue-service/src/config.ts';
import { renderEnvExample, renderEnvPage, settingSections } from '../../tools/docs/env.ts';
import { events, documentedDestinations, renderEvents } from '../../tools/docs/events.ts';
import { expectGenerated } from './generated.ts';
import { documentedRedisKeys } from './redis-keys-page.ts';

// The pages under docs/reference must equal what the code generates. `npm run docs` writes them by running these tests.

const slices = {
  Process: settings.processSettings,
  PostgreSQL: settings.databaseSettings,
  Migration: settings.migrationSettings,
  Redis: settings.redisSettings,
  Addresses: settings.addressSettings,
  Callers: settings.authenticationSettings,
  Limits: settings.requestLimitSettings,
  'Waiting room': settings.queueSettings,
  Purchase: settings.purchaseSettings,
  Payment: settings.paymentSettings,
  Notifications: settings.notificationSettings,
  'Background work': settings.jobSettings,
};
const services = {
  monolith: monolithConfig,
  'queue service': queueServiceConfig,
  'notification worker': workerConfig,
  loader: loaderConfig,
  migrate: migrateSettings,
};
const sections = settingSections(slices, services);

describe('settings', () => {
  test('every settings slice (group of settings) has a section on the page of settings', () => {
    const all = Object.values(settings).filter((value) => value instanceof z.ZodObject);
    expect(new Set(Object.values<unknown>(slices))).toEqual(new Set(all));
    expect(Object.values(slices)).toHaveLength(all.length);
  });

  test('docs/reference/env.md equals what the code generates', () =>
    expectGenerated('docs/reference/env.md', renderEnvPage(sections)));

  test('.env.example equals what the code generates', () => expectGenerated('.env.example', renderEnvExample(sections)));

  test('exactly the settings whose names suggest a password or key are marked as secret', () => {
    const all = sections.flatMap((section) => section.settings);
    const looksSecret = all.filter(({ name }) => /SECRET|_KEY$|^(DATABASE|REDIS|SMTP).*_URL$/.test(name));
    expect(looksSecret.filter(({ isSecret }) => !isSecret)).toEqual([]);
    expect(all.filter(({ isSecret }) => isSecret).map(({ name }) => name)).toEqual(looksSecret.map(({ name }) => name));
  });

  test('rendering the page of settings throws for a setting without a description', () => {
    expect(() => settingSections({ Bare: z.object({ NAMELESS: z.string() }) }, {})).toThrow(
      'NAMELESS does not say what it means',
    );
  });
});

describe('events and jobs', () => {
  test('docs/reference/events.md equals what the code generates', () =>
    expectGenerated('docs/reference/events.md', renderEvents({ queueEvent, emailJob, pushJob })));

  test('events.md lists exactly the events that the code names', () => {
    const sources = globSync(['apps/monolith/src/**/*.ts', 'apps/queue-service/src/**/*.{ts,lua}', 'libs/contracts/src/*.ts']);
    const texts = sources.filter((file) => !/\.test\.ts$|\/testing\//.test(file)).map((file) => readFileSync(file, 'utf8'));
    const named = texts.flatMap((text) => [
      ...text.matchAll(/['"](?:(?:order|ticket|transfer|reservation|match|queue|device|quota)\.[a-z]+(?:_[a-z]+)*)['"]/g),
    ]);
    expect([...new Set(named.map(([literal]) => literal.slice(1, -1)))].sort()).toEqual(Object.keys(events).sort());
  });

  test('every BullMQ queue is an outbox destination', () => {
    expect(Object.keys(documentedDestinations)).toEqual(expect.arrayContaining(Object.keys(queueSchemas)));
  });
});

describe('Redis', () => {
  const keyForms = documentedRedisKeys().map(({ key }) => key);

  test('docs/reference/redis-keys.md begins with the keys of the waiting room, in the order of queueKeys of libs/contracts', () => {
    const firstArgument = (name: string): string =>
      name === 'token' ? '<queue_token>' : name === 'session' || name === 'ended' ? '<user_id>' : '<match_id>';
    const built = Object.entries(queueKeys).map(([name, key]) =>
      typeof key === 'string' ? key : key(firstArgument(name), '<match_id>'),
    );
    expect(keyForms.slice(0, built.length)).toEqual(built);
  });

  test('docs/reference/redis-keys.md lists no key twice', () => {
    expect(keyForms).toEqual([...new Set(keyForms)]);
    expect(keyForms.length).toBeGreaterThan(30);
  });
});
