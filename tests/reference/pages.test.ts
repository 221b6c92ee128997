import { globSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { queueEvent } from '#contracts/integration-events';
import { emailJob, pushJob, queueSchemas } from '#contracts/queue-jobs';
import { queueKeys } from '#contracts/queue-keys';
import * as settings from '#platform/config/settings';
import { loaderSettings, monolithConfig } from '../../apps/monolith/src/config.ts';
import { workerConfig } from '../../apps/notification-worker/src/config.ts';
import { queueServiceConfig } from '../../apps/queue-service/src/config.ts';
import { renderEnvExample, renderEnvPage, sectionsOf } from '../../tools/docs/env.ts';
import { events, outboxDestinations, renderEvents } from '../../tools/docs/events.ts';
import { renderRedisKeys } from '../../tools/docs/redis-keys.ts';
import { waitingRoomKeys } from '../../tools/docs/waiting-room-keys.ts';
import { expectGenerated } from './generated.ts';

// The pages under docs/reference are what the code says: `npm run docs` writes them with these very tests.

const slices = {
  Process: settings.processSettings,
  PostgreSQL: settings.databaseSettings,
  Redis: settings.redisSettings,
  Addresses: settings.addressSettings,
  Callers: settings.callerSettings,
  Limits: settings.limitSettings,
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
  loader: loaderSettings,
};
const sections = sectionsOf(slices, services);

describe('settings', () => {
  test('every slice has its section', () => {
    const all = Object.values(settings).filter((value) => value instanceof z.ZodObject);
    expect(new Set(Object.values<unknown>(slices))).toEqual(new Set(all));
    expect(Object.values(slices)).toHaveLength(all.length);
  });

  test('env.md', () => expectGenerated('docs/reference/env.md', renderEnvPage(sections)));

  test('.env.example', () => expectGenerated('.env.example', renderEnvExample(sections)));

  test('whatever holds a password or a key is marked as secret', () => {
    const all = sections.flatMap((section) => section.settings);
    const looksSecret = all.filter(({ name }) => /SECRET|_KEY$|^(DATABASE|REDIS|SMTP).*_URL$/.test(name));
    expect(looksSecret.filter(({ isSecret }) => !isSecret)).toEqual([]);
    expect(all.filter(({ isSecret }) => isSecret).map(({ name }) => name)).toEqual(looksSecret.map(({ name }) => name));
  });

  test('a setting without a meaning does not get onto the page', () => {
    expect(() => sectionsOf({ Bare: z.object({ NAMELESS: z.string() }) }, {})).toThrow('NAMELESS does not say what it means');
  });
});

describe('events and jobs', () => {
  test('events.md', () => expectGenerated('docs/reference/events.md', renderEvents({ queueEvent, emailJob, pushJob })));

  test('every event the code names is on the page, and every event on the page is in the code', () => {
    const sources = globSync(['apps/monolith/src/**/*.ts', 'apps/queue-service/src/**/*.{ts,lua}', 'libs/contracts/src/*.ts']);
    const texts = sources.filter((file) => !/\.test\.ts$|\/testing\//.test(file)).map((file) => readFileSync(file, 'utf8'));
    const named = texts.flatMap((text) => [
      ...text.matchAll(/['"](?:(?:order|ticket|reservation|match|queue|device)\.[a-z]+_?[a-z]*)['"]/g),
    ]);
    expect([...new Set(named.map(([literal]) => literal.slice(1, -1)))].sort()).toEqual(Object.keys(events).sort());
  });

  test('every queue is a destination', () => {
    expect(Object.keys(outboxDestinations)).toEqual(expect.arrayContaining(Object.keys(queueSchemas)));
  });
});

describe('Redis', () => {
  test('redis-keys.md', () => expectGenerated('docs/reference/redis-keys.md', renderRedisKeys()));

  test('the keys of the waiting room are those of the contracts', () => {
    const [user, token] = ['<user_id>', '<queue_token>'];
    const first = (name: string): string =>
      name === 'token' ? token : name === 'session' || name === 'ended' ? user : '<match_id>';
    const built = Object.entries(queueKeys).map(([name, key]) => [
      name,
      typeof key === 'string' ? key : key(first(name), '<match_id>'),
    ]);
    expect(Object.entries(waitingRoomKeys).map(([name, { key }]) => [name, key])).toEqual(built);
  });
});
