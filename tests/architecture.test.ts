import { arrows, breaches, purchaseFeatures } from './architecture/arrows.ts';
import { allRoutes, withoutAccess, withoutKey, type RouteFact } from './architecture/routes.ts';
import { importsIn, migrations, productionSources } from './architecture/sources.ts';
import { locationOf } from './architecture/code-locations.ts';
import { barrelsIn } from './architecture/barrels.ts';
import { ownershipFaults, roomsByTable, tablesIn } from './architecture/tables.ts';

// The house as it is: who imports whom, whose table is whose, what every route declares. Each rule is a pure function, and is shown
// red on a canary: a line that must be refused. (The same arrows in the linter, at the line itself: tests/lint-canaries.test.ts.)

const sources = productionSources();

describe('imports', () => {
  test('none goes against an arrow', () => {
    expect(breaches(sources)).toEqual([]);
    expect(sources.length).toBeGreaterThan(150);
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(500);
  });

  const purchase = 'apps/monolith/src/purchase';
  const rules = 'apps/queue-service/src/waiting-room/domain';
  type Import = [from: string, specifier: string];
  /** For every arrow what it must refuse. */
  const refused: Record<string, Import[]> = {
    'the domain imports nothing outside itself': [
      ['libs/domain/src/purchase/order.ts', 'zod'],
      ['libs/domain/src/purchase/order.ts', 'node:crypto'],
      ['libs/domain/src/purchase/order.ts', '#platform/ids'],
      ['libs/domain/src/purchase/order.ts', '../../../application/src/clock.ts'],
    ],
    'a context of the domain knows no other, and what they share knows none': [
      ['libs/domain/src/purchase/order.ts', '../catalog/sale.ts'],
      ['libs/domain/src/shared/money.ts', '../purchase/order.ts'],
    ],
    'libs/application imports the domain and itself': [
      ['libs/application/src/clock.ts', '#contracts/queue-jobs'],
      ['libs/application/src/clock.ts', '@nestjs/common'],
    ],
    'libs/contracts imports zod, the domain and itself': [
      ['libs/contracts/src/queue-jobs.ts', '#platform/ids'],
      ['libs/contracts/src/queue-jobs.ts', 'node:fs'],
    ],
    'the core of the event loader imports nothing outside itself': [
      ['libs/event-loader/src/core/ports.ts', '#platform/ids'],
      ['libs/event-loader/src/core/ports.ts', '../adapters/redis-locks.ts'],
      ['libs/event-loader/src/core/ports.ts', 'node:fs'],
    ],
    'of the event loader an app sees the adapters alone': [
      ['apps/monolith/src/cli/run-loader.ts', '#event-loader/core/round-robin-event-loader'],
    ],
    'a library never imports an app': [
      ['libs/platform/src/ids.ts', '../../../apps/monolith/src/config.ts'],
      ['libs/testing/src/tcp-proxy.ts', '../../../apps/web/src/main.tsx'],
    ],
    'an app never imports another': [
      ['apps/monolith/src/monolith.ts', '../../queue-service/src/config.ts'],
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../../../../../queue-service/src/waiting-room/waiting-room.api.ts'],
    ],
    'libs/queue-client, which runs in browsers, imports libs/contracts and itself': [
      ['libs/queue-client/src/transports.ts', 'node:net'],
      ['libs/queue-client/src/transports.ts', '#platform/ids'],
    ],
    'the page shares nothing with the servers but libs/contracts and libs/queue-client': [
      ['apps/web/src/main.tsx', '#platform/ids'],
      ['apps/web/src/main.tsx', '#domain/shared/money'],
      ['apps/web/src/main.tsx', 'node:fs'],
    ],
    'a context is reached through its x.api.ts alone; the command line may also use its module and x.sql.ts, a module other modules':
      [
        [`${purchase}/availability/outbound/catalog-matches.ts`, '../../../catalog/outbound/postgres-catalog.ts'],
        [`${purchase}/checkout/inbound/orders.controller.ts`, '../../../ticketing/ticketing.module.ts'],
        [`${purchase}/checkout/checkout.providers.ts`, '../../ticketing/ticketing.module.ts'],
        [`${purchase}/purchase.module.ts`, '../ticketing/application/ticketing.ts'],
        ['apps/monolith/src/cli/demo-data.ts', '../operations/application/create-match.ts'],
        ['apps/monolith/src/ticketing/outbound/postgres-tickets.ts', '../../purchase/seat-is-free.sql.ts'],
      ],
    'a context takes from the root of its app its settings and tokens, and a use case not even those': [
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../../../app.module.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../../../config.ts'],
    ],
    'the rules of a context, in its folder domain, import each other and what libs/domain shares': [
      [`${rules}/line-view.ts`, 'zod'],
      [`${rules}/line-view.ts`, 'node:crypto'],
      [`${rules}/line-view.ts`, '#platform/ids'],
      [`${rules}/line-view.ts`, '#application/clock'],
      [`${rules}/line-view.ts`, '#domain/catalog/sale'],
      [`${rules}/line-view.ts`, '../application/ports.ts'],
      [`${rules}/line-view.ts`, '../../config.ts'],
      [`${rules}/line-view.ts`, '../../other-context/domain/rule.ts'],
    ],
    'a use case imports the domain, libs/application, the rules, use cases and ports of its context, and its x.api.ts': [
      [`${purchase}/hold/application/hold-seats.ts`, '@nestjs/common'],
      [`${purchase}/hold/application/hold-seats.ts`, 'zod'],
      [`${purchase}/hold/application/hold-seats.ts`, 'node:crypto'],
      [`${purchase}/hold/application/hold-seats.ts`, '#platform/ids'],
      [`${purchase}/hold/application/hold-seats.ts`, '#contracts/queue-jobs'],
      [`${purchase}/hold/application/hold-seats.ts`, '../inbound/reservations.schemas.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../outbound/postgres-reservations.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../../availability/outbound/postgres-seat-inventory.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../hold.providers.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../../../catalog/catalog.api.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../../../catalog/domain/sale.ts'],
    ],
    'a feature of purchase imports the features below it, and of the context what all of them share': [
      [`${purchase}/hold/application/hold-seats.ts`, '../../checkout/application/ports.ts'],
      [`${purchase}/hold/inbound/reservations.controller.ts`, '../../checkout/application/check-out.ts'],
      [`${purchase}/availability/outbound/shared-seat-views.ts`, '../../hold/outbound/sector-snapshot.ts'],
      [`${purchase}/turns/turns.providers.ts`, '../hold/application/ports.ts'],
      [`${purchase}/hold/hold.providers.ts`, '../outbound/postgres-purchase-api.ts'],
      [`${purchase}/hold/hold.providers.ts`, '../purchase.module.ts'],
      [`${purchase}/resale/application/resell.ts`, '../../hold/application/ports.ts'],
    ],
    'inbound does not see outbound': [
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../outbound/postgres-orders.ts'],
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../../hold/outbound/sector-snapshot.ts'],
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../../outbound/postgres-purchase-api.ts'],
    ],
    'outbound sees ports and readers, no use case and nothing inbound': [
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../application/check-out.ts'],
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../../hold/application/hold-seats.ts'],
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../inbound/purchase.schemas.ts'],
      [`${purchase}/outbound/postgres-purchase-api.ts`, '../checkout/application/check-out.ts'],
      [`${purchase}/outbound/postgres-purchase-api.ts`, '../checkout/inbound/purchase.schemas.ts'],
    ],
    'an x.api.ts is as pure as the domain': [
      [`${purchase}/purchase.api.ts`, './checkout/outbound/postgres-orders.ts'],
      [`${purchase}/purchase.api.ts`, 'typeorm'],
    ],
    'production does not import tests': [
      [`${purchase}/purchase.module.ts`, './testing/memory-orders.ts'],
      ['libs/platform/src/ids.ts', '#testing/test-database'],
      ['libs/platform/src/ids.ts', '../../../tests/setup/start-servers.mjs'],
    ],
  };

  test('every arrow has a canary', () => {
    expect(Object.keys(refused)).toEqual(arrows.map(({ sentence }) => sentence));
  });

  test.each(Object.entries(refused).flatMap(([sentence, imports]) => imports.map(([from, to]) => [sentence, from, to] as const)))(
    '%s: %s may not import %s',
    (sentence, from, specifier) => {
      expect(breaches([{ path: from, imports: [specifier] }])).toContainEqual(
        expect.stringMatching(new RegExp(`: ${sentence}$`)),
      );
    },
  );

  test.each<Import>([
    ['libs/domain/src/purchase/order.ts', '../shared/domain-error.ts'],
    ['libs/application/src/outbox.ts', './transaction-manager.ts'],
    ['libs/contracts/src/queue-jobs.ts', 'zod'],
    ['libs/event-loader/src/adapters/redis-locks.ts', '../core/ports.ts'],
    ['apps/monolith/src/cli/run-loader.ts', '#event-loader/adapters/open-event-loader'],
    [`${purchase}/checkout/application/check-out.ts`, '#application/clock'],
    [`${purchase}/checkout/application/check-out.ts`, './ports.ts'],
    [`${purchase}/checkout/application/check-out.ts`, '../../hold/application/ports.ts'],
    [`${purchase}/checkout/application/check-out.ts`, '../../application/ports.ts'],
    [`${purchase}/checkout/application/check-out.ts`, '../../purchase.api.ts'],
    [`${rules}/line-view.ts`, './position-steps.ts'],
    [`${rules}/line-view.ts`, '#domain/shared/domain-error'],
    ['apps/queue-service/src/waiting-room/application/ports.ts', '../domain/line-view.ts'],
    ['apps/queue-service/src/waiting-room/inbound/position-answers.ts', '../domain/wait-estimate.ts'],
    ['apps/queue-service/src/waiting-room/outbound/redis-replies.ts', '../domain/line-view.ts'],
    [`${purchase}/checkout/inbound/orders.controller.ts`, '../application/ports.ts'],
    [`${purchase}/checkout/inbound/orders.controller.ts`, '../../../ticketing/ticketing.api.ts'],
    [`${purchase}/checkout/inbound/orders.controller.ts`, '../../../tokens.ts'],
    [`${purchase}/checkout/outbound/postgres-orders.ts`, '../application/ports.ts'],
    [`${purchase}/checkout/outbound/postgres-orders.ts`, 'typeorm'],
    [`${purchase}/settlement/outbound/order-consequences.ts`, '../../turns/outbound/postgres-purchase-windows.ts'],
    [`${purchase}/outbound/postgres-purchase-api.ts`, '../checkout/application/purchase-reader.ts'],
    [`${purchase}/purchase.module.ts`, './hold/hold.providers.ts'],
    [`${purchase}/purchase.module.ts`, '../catalog/catalog.module.ts'],
    ['apps/monolith/src/app.module.ts', './purchase/purchase.module.ts'],
    ['apps/monolith/src/cli/monolith-context.ts', '../app.module.ts'],
    ['apps/web/src/pages/match-page.tsx', '../api/types.ts'],
    ['apps/web/src/api/types.ts', '#contracts/match-answer'],
  ])('%s may import %s', (from, specifier) => {
    expect(breaches([{ path: from, imports: [specifier] }])).toEqual([]);
  });

  test('the features of purchase are listed from the bottom up: none imports one above it', () => {
    const features = Object.entries(purchaseFeatures);
    features.forEach(([feature, below], at) => {
      const listed = features.slice(0, at).map(([name]) => name);
      expect([feature, below.filter((name) => !listed.includes(name))]).toEqual([feature, []]);
    });
    const folders = new Set(
      sources
        .map(({ path }) => locationOf(path))
        .flatMap(({ context, feature }) => (context === 'purchase' ? (feature ?? []) : [])),
    );
    expect([...folders].sort()).toEqual(Object.keys(purchaseFeatures).sort());
  });

  test('an import is found however it is written, and only where it is one', () => {
    const text = `
      import type { A } from './a.ts';
      import b, { type C } from "./b.ts";
      import './c.ts';
      export * from './d.ts';
      const e = await import('./e.ts');
      // import { F } from './f.ts';
      const g = "import h from './g.ts'";`;
    expect(importsIn(text)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts']);
  });
});

describe('barrels', () => {
  test('there are none', () => {
    expect(barrelsIn(sources)).toEqual([]);
  });

  test.each([
    ['libs/platform/src/ids/index.ts', 'export const a = 1;'],
    ['libs/platform/src/all.ts', `export { newId } from './ids.ts';\nexport * from './clock.ts';`],
    ['apps/monolith/src/x.ts', `// what there is\nexport type { A } from './a.ts';`],
  ])('%s is one', (path, text) => {
    expect(barrelsIn([{ path, text }])).toEqual([path]);
  });

  test.each([
    ['libs/platform/src/ids.ts', `import { v7 } from 'uuid';\nexport const newId = v7;`],
    [
      'apps/monolith/src/payment/application/ports.ts',
      `export { PaymentApi } from '../payment.api.ts';\nexport abstract class Intents {}`,
    ],
  ])('%s is none', (path, text) => {
    expect(barrelsIn([{ path, text }])).toEqual([]);
  });
});

describe('tables', () => {
  const purchaseSql = /^apps\/monolith\/src\/purchase\/([\w-]+\/)?outbound\//;
  const excuses = [
    { table: 'outbox', in: purchaseSql, because: 'one statement for many holds writes their messages with the effect' },
    { table: 'idempotency_keys', in: purchaseSql, because: 'one statement for many holds stores their keys with the effect' },
    {
      table: 'matches',
      in: /\/purchase\/hold\/outbound\/(hold-batch|why-not-held)\.sql\.ts$/,
      because: 'a hold reads the sale in the snapshot it commits in, and whoever was refused is told by the same clock',
    },
    ...['broadcasts', 'broadcast_devices'].map((table) => ({
      table,
      in: /\/fans\/outbound\/postgres-announcements\.ts$/,
      because: 'one statement, where the devices are, writes down whom a broadcast goes to',
    })),
  ];
  const tables = tablesIn(migrations());

  test('each belongs to one context, which alone reads and writes it', () => {
    expect(ownershipFaults(roomsByTable(tables, sources, excuses))).toEqual([]);
    expect(tables.length).toBeGreaterThan(15);
  });

  const excuse = { table: 'orders', in: /report\.ts$/, because: 'of the test' };
  const seen = (files: Record<string, string>): string[] =>
    ownershipFaults(
      roomsByTable(
        ['orders'],
        Object.entries(files).map(([path, text]) => ({ path, text })),
        [excuse],
      ),
    );

  test('a second context that reads a table is found', () => {
    const mine = { [`apps/monolith/src/purchase/checkout/outbound/postgres-orders.ts`]: 'insert into orders (id) values ($1)' };
    expect(seen(mine)).toEqual([]);
    for (const sql of [
      'select 1 from orders o',
      'SELECT 1 FROM x\n  JOIN orders USING (id)',
      'update orders set x = 1',
      "tableName: 'orders'",
      'delete from "orders"',
    ]) {
      expect(seen({ ...mine, 'apps/monolith/src/ticketing/outbound/postgres-tickets.ts': sql })).toEqual([
        'orders is used by monolith/purchase and monolith/ticketing',
      ]);
    }
    expect(seen({ ...mine, 'libs/platform/src/outbox/outbox-relay.ts': 'select from orders' })).toHaveLength(1);
    expect(seen({ ...mine, 'apps/notification-worker/src/email/outbound/mails.ts': 'select from orders' })).toHaveLength(1);
    expect(
      seen({ ...mine, 'apps/monolith/src/ticketing/outbound/postgres-tickets.ts': 'select from orders_of_tickets' }),
    ).toEqual([]);
    expect(seen({ ...mine, 'apps/monolith/src/ticketing/outbound/report.ts': 'select from orders' })).toEqual([]);
    expect(seen({ ...mine, 'apps/monolith/src/cli/verify.ts': 'select from orders' })).toEqual([]);
  });

  test('a table nobody uses is found', () => {
    expect(seen({})).toEqual(['orders is used by nobody']);
  });
});

describe('routes', () => {
  /** Take no idempotency key, because … */
  const exempt = {
    'POST /api/v1/payments/webhooks/stripe': 'the event carries its own id',
    'POST /api/v1/sandbox/payments/:intent_id/confirm': 'it plays the payment provider, whose events carry their own id',
    'POST /api/v1/queue/:match_id/join': 'a fan has one entry: joining again finds it',
    'PUT /api/v1/queue/:match_id/control': 'internal: repeating it changes nothing',
    'PUT /api/v1/queue/:match_id/restore': 'internal: repeating it changes nothing',
    'POST /api/v1/queue/:match_id/sold-out': 'internal: repeating it changes nothing',
    'POST /api/v1/queue/:match_id/windows/:user_id/complete': 'internal: repeating it changes nothing',
  };

  test('each says who may call it', async () => {
    const facts = await allRoutes();
    expect(withoutAccess(facts)).toEqual([]);
    expect(new Set(facts.map(({ app }) => app))).toEqual(new Set(['monolith', 'queue-service', 'notification-worker']));
    expect(facts.length).toBeGreaterThan(30);
  });

  test('each that changes something is idempotent, or says why it need not be', async () => {
    expect(withoutKey(await allRoutes(), exempt)).toEqual([]);
  });

  const keyed: RouteFact = {
    app: 'monolith',
    route: 'POST /things',
    method: 'POST',
    rules: { access: 'fan' },
    storesAnswers: true,
  };

  test('a route that says nothing is found', () => {
    expect(withoutAccess([{ ...keyed, rules: undefined }, { ...keyed, rules: {} }, keyed])).toHaveLength(2);
  });

  test.each<[string, RouteFact, Record<string, string>]>([
    ['an excuse nobody agreed to', { ...keyed, rules: { access: 'fan', noKeyBecause: 'it is late' } }, {}],
    [
      'another excuse than agreed',
      { ...keyed, rules: { access: 'fan', noKeyBecause: 'it is late' } },
      { 'POST /things': 'it is early' },
    ],
    ['an answer that is not stored', { ...keyed, storesAnswers: false }, {}],
    ['a change by anybody', { ...keyed, rules: { access: 'public' } }, {}],
    ['an internal change without a word', { ...keyed, rules: { access: 'internal' } }, {}],
    ['an exemption that is not used', keyed, { 'POST /things': 'it is early' }],
    ['an exemption of nothing', keyed, { 'PUT /nothing': 'it is early' }],
  ])('%s is found', (_what, fact, agreed) => {
    expect(withoutKey([fact], agreed)).toHaveLength(1);
  });

  test('a read needs no key', () => {
    expect(
      withoutKey(
        [
          { ...keyed, method: 'GET', storesAnswers: false },
          { ...keyed, method: 'DELETE', storesAnswers: false },
        ],
        {},
      ),
    ).toEqual([]);
  });
});
