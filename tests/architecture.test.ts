import { importRules, importViolations, purchaseFeatures } from './architecture/import-rules.ts';
import { allRoutes, idempotencyKeyFaults, routesWithoutAccess, type RouteFact } from './architecture/routes.ts';
import { importsIn, migrations, productionSources } from './architecture/sources.ts';
import { locationOf } from './architecture/code-locations.ts';
import { barrelsIn } from './architecture/barrels.ts';
import { filesWithReplacedWords, REPLACED, replacedWordsIn, wordsInGlossary } from './architecture/words.ts';
import { sharedStatementNames, statementNamesIn } from './architecture/statement-names.ts';
import { ownershipFaults, tableUsers, tablesIn } from './architecture/table-owners.ts';

// Rules about the whole code: which file may import which, which context owns a table, what each route must declare. Each rule is a
// pure function, and each is tested with examples that it must refuse. The linter checks the same import rules and shows the line;
// tests/lint-canaries.test.ts tests the linter.

const sources = productionSources();

describe('imports', () => {
  test('production code breaks no import rule', () => {
    expect(importViolations(sources)).toEqual([]);
    expect(sources.length).toBeGreaterThan(150);
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(500);
  });

  const purchase = 'apps/monolith/src/purchase';
  const lineRules = 'apps/queue-service/src/waiting-room/domain';
  type Import = [from: string, specifier: string];
  /** For each import rule: imports that it must refuse. */
  const refused: Record<string, Import[]> = {
    'libs/domain imports nothing outside itself': [
      ['libs/domain/src/purchase/order.ts', 'zod'],
      ['libs/domain/src/purchase/order.ts', 'node:crypto'],
      ['libs/domain/src/purchase/order.ts', '#platform/ids'],
      ['libs/domain/src/purchase/order.ts', '../../../application/src/clock.ts'],
    ],
    'a context folder of libs/domain imports only itself and shared, and shared imports only itself': [
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
    'an app imports only the adapters of the event loader': [
      ['apps/monolith/src/cli/run-loader.ts', '#event-loader/core/round-robin-event-loader'],
    ],
    'libs/platform imports only the pure libraries, npm packages and itself': [
      ['libs/platform/src/postgres/database.ts', '#messaging/outbox/outbox-relay'],
      ['libs/platform/src/http/endpoint.ts', '../../../ticketing/src/ticket-qr.ts'],
    ],
    'libs/ticketing draws documents: it imports only the domain, npm packages and itself': [
      ['libs/ticketing/src/ticket-pdf.ts', '#platform/ids'],
    ],
    'a library never imports an app': [
      ['libs/platform/src/ids.ts', '../../../apps/monolith/src/config.ts'],
      ['libs/testing/src/tcp-proxy.ts', '../../../apps/web/src/main.tsx'],
    ],
    'an app never imports another app': [
      ['apps/monolith/src/monolith.ts', '../../queue-service/src/config.ts'],
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../../../../../queue-service/src/waiting-room/waiting-room.api.ts'],
    ],
    'libs/queue-client, which runs in browsers, imports libs/contracts and itself': [
      ['libs/queue-client/src/transports.ts', 'node:net'],
      ['libs/queue-client/src/transports.ts', '#platform/ids'],
    ],
    'apps/web imports only npm packages, libs/contracts, libs/queue-client and its own files': [
      ['apps/web/src/main.tsx', '#platform/ids'],
      ['apps/web/src/main.tsx', '#domain/shared/money'],
      ['apps/web/src/main.tsx', 'node:fs'],
    ],
    'a context imports only the x.api.ts of another context; modules and the command line may also import its module': [
      [`${purchase}/availability/outbound/catalog-matches.ts`, '../../../catalog/outbound/postgres-catalog.ts'],
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../../../ticketing/ticketing.module.ts'],
      [`${purchase}/checkout/checkout.providers.ts`, '../../ticketing/ticketing.module.ts'],
      [`${purchase}/purchase.module.ts`, '../ticketing/application/ticketing.ts'],
      ['apps/monolith/src/cli/demo-data.ts', '../operations/application/create-match.ts'],
    ],
    'a context imports only config, tokens and parts from the root of its app, and a use case not even those': [
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../../../app.module.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../../../config.ts'],
    ],
    'the domain folder of a context imports only itself and the shared folder of libs/domain': [
      [`${lineRules}/line-view.ts`, 'zod'],
      [`${lineRules}/line-view.ts`, 'node:crypto'],
      [`${lineRules}/line-view.ts`, '#platform/ids'],
      [`${lineRules}/line-view.ts`, '#application/clock'],
      [`${lineRules}/line-view.ts`, '#domain/catalog/sale'],
      [`${lineRules}/line-view.ts`, '../application/ports.ts'],
      [`${lineRules}/line-view.ts`, '../../config.ts'],
      [`${lineRules}/line-view.ts`, '../../other-context/domain/rule.ts'],
    ],
    'a use case imports only libs/domain, libs/application, and the domain, application and x.api.ts of its context': [
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
    'a feature of purchase imports only the features below it, and the ports and x.api.ts of the context': [
      [`${purchase}/hold/application/hold-seats.ts`, '../../checkout/application/ports.ts'],
      [`${purchase}/hold/inbound/reservations.controller.ts`, '../../checkout/application/check-out.ts'],
      [`${purchase}/availability/outbound/shared-seat-views.ts`, '../../hold/outbound/sector-snapshot.ts'],
      [`${purchase}/turns/turns.providers.ts`, '../hold/application/ports.ts'],
      [`${purchase}/hold/hold.providers.ts`, '../outbound/postgres-purchase-api.ts'],
      [`${purchase}/hold/hold.providers.ts`, '../purchase.module.ts'],
      [`${purchase}/resale/application/resell.ts`, '../../hold/application/ports.ts'],
    ],
    'inbound never imports outbound': [
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../outbound/postgres-orders.ts'],
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../../hold/outbound/sector-snapshot.ts'],
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../../outbound/postgres-purchase-api.ts'],
    ],
    'outbound imports ports and readers, but no use case and nothing from inbound': [
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../application/check-out.ts'],
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../../hold/application/hold-seats.ts'],
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../inbound/purchase.schemas.ts'],
      [`${purchase}/outbound/postgres-purchase-api.ts`, '../checkout/application/check-out.ts'],
      [`${purchase}/outbound/postgres-purchase-api.ts`, '../checkout/inbound/purchase.schemas.ts'],
    ],
    'in a context without layers only the module imports controllers, listeners and schedules': [
      ['apps/monolith/src/fans/devices.ts', './me.controller.ts'],
      ['apps/monolith/src/operations/check-sale.ts', './sale-watch.schedule.ts'],
    ],
    'an x.api.ts imports only libs/domain, libs/application and libs/contracts': [
      [`${purchase}/purchase.api.ts`, './checkout/outbound/postgres-orders.ts'],
      [`${purchase}/purchase.api.ts`, 'typeorm'],
    ],
    'production code never imports test code': [
      [`${purchase}/purchase.module.ts`, './testing/memory-orders.ts'],
      ['libs/platform/src/ids.ts', '#testing/test-database'],
      ['libs/platform/src/ids.ts', '../../../tests/setup/start-servers.mjs'],
    ],
  };

  test('each import rule has an example that it must refuse', () => {
    expect(Object.keys(refused)).toEqual(importRules.map(({ sentence }) => sentence));
  });

  test.each(Object.entries(refused).flatMap(([sentence, imports]) => imports.map(([from, to]) => [sentence, from, to] as const)))(
    '%s: %s may not import %s',
    (sentence, from, specifier) => {
      expect(importViolations([{ path: from, imports: [specifier] }])).toContainEqual(
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
    [`${lineRules}/line-view.ts`, './position-steps.ts'],
    [`${lineRules}/line-view.ts`, '#domain/shared/domain-error'],
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
    ['apps/monolith/src/fans/me.controller.ts', './devices.ts'],
    ['apps/monolith/src/transfer/transfer-ticket.ts', '../ticketing/ticketing.api.ts'],
    ['apps/monolith/src/blacklist/blacklist.module.ts', './blacklist.controller.ts'],
    ['apps/monolith/src/cli/monolith-context.ts', '../app.module.ts'],
    ['apps/web/src/pages/match-page.tsx', '../api/types.ts'],
    ['apps/web/src/api/types.ts', '#contracts/match-answer'],
  ])('%s may import %s', (from, specifier) => {
    expect(importViolations([{ path: from, imports: [specifier] }])).toEqual([]);
  });

  test('features of purchase are listed from the bottom up: each may import only features listed before it', () => {
    const features = Object.entries(purchaseFeatures);
    features.forEach(([feature, allowedFeatures], index) => {
      const listedBefore = features.slice(0, index).map(([name]) => name);
      expect([feature, allowedFeatures.filter((name) => !listedBefore.includes(name))]).toEqual([feature, []]);
    });
    const folders = new Set(
      sources
        .map(({ path }) => locationOf(path))
        .flatMap(({ context, feature }) => (context === 'purchase' ? (feature ?? []) : [])),
    );
    expect([...folders].sort()).toEqual(Object.keys(purchaseFeatures).sort());
  });

  test('importsIn finds every form of import, and none in comments or strings', () => {
    const text = `
      import type { A } from './a.ts';
      import b, { type C } from "./b.ts";
      import './c.ts';
      export * from './d.ts';
      const e = await import('./e.ts');
      // An import in a comment does not count: import { F } from './f.ts';
      const g = "import h from './g.ts'";`;
    expect(importsIn(text)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts']);
  });
});

describe('barrels', () => {
  test('production code has no barrel files', () => {
    expect(barrelsIn(sources)).toEqual([]);
  });

  test.each([
    ['libs/platform/src/ids/index.ts', 'export const a = 1;'],
    ['libs/platform/src/all.ts', `export { newId } from './ids.ts';\nexport * from './clock.ts';`],
    ['apps/monolith/src/x.ts', `// all exports\nexport type { A } from './a.ts';`],
  ])('%s is reported as a barrel', (path, text) => {
    expect(barrelsIn([{ path, text }])).toEqual([path]);
  });

  test.each([
    ['libs/platform/src/ids.ts', `import { v7 } from 'uuid';\nexport const newId = v7;`],
    [
      'apps/monolith/src/payment/application/ports.ts',
      `export { PaymentApi } from '../payment.api.ts';\nexport abstract class Intents {}`,
    ],
  ])('%s is not reported as a barrel', (path, text) => {
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
      because: 'a hold reads the sale in the transaction that commits it; the reason of a refusal is read by the same clock',
    },
    ...['broadcasts', 'broadcast_devices'].map((table) => ({
      table,
      in: /\/fans\/postgres-fan-broadcasts\.ts$/,
      because: 'one statement in the context that owns the devices stores the receivers of a broadcast',
    })),
  ];
  const tables = tablesIn(migrations());

  test('each table is read and written by one context or library only', () => {
    expect(ownershipFaults(tableUsers(tables, sources, excuses))).toEqual([]);
    expect(tables.length).toBeGreaterThan(15);
  });

  const excuse = { table: 'orders', in: /report\.ts$/, because: 'this test needs an excuse' };
  const faultsIn = (files: Record<string, string>): string[] =>
    ownershipFaults(
      tableUsers(
        ['orders'],
        Object.entries(files).map(([path, text]) => ({ path, text })),
        [excuse],
      ),
    );

  test('a second context that uses a table is reported, unless it has an excuse or is the cli', () => {
    const ownerFile = {
      [`apps/monolith/src/purchase/checkout/outbound/postgres-orders.ts`]: 'insert into orders (id) values ($1)',
    };
    expect(faultsIn(ownerFile)).toEqual([]);
    for (const sql of [
      'select 1 from orders o',
      'SELECT 1 FROM x\n  JOIN orders USING (id)',
      'update orders set x = 1',
      "tableName: 'orders'",
      'delete from "orders"',
    ]) {
      expect(faultsIn({ ...ownerFile, 'apps/monolith/src/ticketing/outbound/postgres-tickets.ts': sql })).toEqual([
        'orders is used by monolith/purchase and monolith/ticketing',
      ]);
    }
    expect(faultsIn({ ...ownerFile, 'libs/messaging/src/outbox/outbox-relay.ts': 'select from orders' })).toHaveLength(1);
    expect(faultsIn({ ...ownerFile, 'apps/notification-worker/src/email/outbound/mails.ts': 'select from orders' })).toHaveLength(
      1,
    );
    expect(
      faultsIn({ ...ownerFile, 'apps/monolith/src/ticketing/outbound/postgres-tickets.ts': 'select from orders_of_tickets' }),
    ).toEqual([]);
    expect(faultsIn({ ...ownerFile, 'apps/monolith/src/ticketing/outbound/report.ts': 'select from orders' })).toEqual([]);
    expect(faultsIn({ ...ownerFile, 'apps/monolith/src/cli/verify.ts': 'select from orders' })).toEqual([]);
  });

  test('a table that no context uses is reported', () => {
    expect(faultsIn({})).toEqual(['orders is used by no module']);
  });
});

describe('statements', () => {
  test('each prepared statement has a name of its own', () => {
    expect(sharedStatementNames(sources)).toEqual([]);
    expect(statementNamesIn(sources).length).toBeGreaterThan(100);
  });

  test('negative control: a name of two statements is found', () => {
    const texts = ["namedSql('a', 'select 1')", "namedSql<{\n  readonly id: string;\n}>(\n  'a',", "namedSql('b', '')"];
    expect(sharedStatementNames(texts.map((text) => ({ text })))).toEqual(['a']);
  });
});

describe('routes', () => {
  /** Mutating routes that need no idempotency key, each with the reason that it declares. */
  const exempt = {
    'POST /api/v1/payments/webhooks/stripe': 'the event carries its own id',
    'POST /api/v1/sandbox/payments/:intent_id/confirm': 'it plays the payment provider, whose events carry their own id',
    'POST /api/v1/queue/:match_id/join': 'a fan has one entry: joining again finds it',
    'PUT /api/v1/queue/:match_id/control': 'internal: repeating it changes nothing',
    'PUT /api/v1/queue/:match_id/restore': 'internal: repeating it changes nothing',
    'POST /api/v1/queue/:match_id/sold-out': 'internal: repeating it changes nothing',
    'POST /api/v1/queue/:match_id/windows/:user_id/complete': 'internal: repeating it changes nothing',
  };

  test('each route declares who may call it', async () => {
    const facts = await allRoutes();
    expect(routesWithoutAccess(facts)).toEqual([]);
    expect(new Set(facts.map(({ app }) => app))).toEqual(new Set(['monolith', 'queue-service', 'notification-worker']));
    expect(facts.length).toBeGreaterThan(30);
  });

  test('each mutating route stores its answer under an idempotency key, or declares why it needs no key', async () => {
    expect(idempotencyKeyFaults(await allRoutes(), exempt)).toEqual([]);
  });

  const keyedRoute: RouteFact = {
    app: 'monolith',
    route: 'POST /things',
    method: 'POST',
    rules: { access: 'fan' },
    storesAnswers: true,
  };

  test('a route that does not declare who may call it is reported', () => {
    expect(routesWithoutAccess([{ ...keyedRoute, rules: undefined }, { ...keyedRoute, rules: {} }, keyedRoute])).toHaveLength(2);
  });

  test.each<[string, RouteFact, Record<string, string>]>([
    [
      'a reason for no key that is not in the list of exemptions',
      { ...keyedRoute, rules: { access: 'fan', noKeyBecause: 'the client retries' } },
      {},
    ],
    [
      'a reason for no key that differs from the listed one',
      { ...keyedRoute, rules: { access: 'fan', noKeyBecause: 'the client retries' } },
      { 'POST /things': 'it has no effect' },
    ],
    ['a mutating route whose answer is not stored', { ...keyedRoute, storesAnswers: false }, {}],
    ['a mutating public route without a reason', { ...keyedRoute, rules: { access: 'public' } }, {}],
    ['a mutating internal route without a reason', { ...keyedRoute, rules: { access: 'internal' } }, {}],
    ['an exemption of a route that takes a key', keyedRoute, { 'POST /things': 'it has no effect' }],
    ['an exemption of a route that does not exist', keyedRoute, { 'PUT /nothing': 'it has no effect' }],
  ])('route check: %s is reported', (_case, fact, exemptions) => {
    expect(idempotencyKeyFaults([fact], exemptions)).toHaveLength(1);
  });

  test('GET and DELETE routes need no idempotency key', () => {
    expect(
      idempotencyKeyFaults(
        [
          { ...keyedRoute, method: 'GET', storesAnswers: false },
          { ...keyedRoute, method: 'DELETE', storesAnswers: false },
        ],
        {},
      ),
    ).toEqual([]);
  });
});

describe('words', () => {
  test('code, comments and tests use no word that the glossary replaces', () => {
    expect(filesWithReplacedWords()).toEqual([]);
  });

  test.each(REPLACED)('the glossary says what to write instead of "%s"', (word) => {
    expect(wordsInGlossary()).toMatch(new RegExp(`\\b${word}\\b`));
  });

  test.each([
    ['an identifier', 'const holdWish = 1;', ['Wish']],
    ['a constant in capitals', 'MAX_WISHES', ['WISHES']],
    ['a comment', '/** The picture of a sector. */', ['picture']],
    ['a plural', 'two lanes', ['lanes']],
  ])('negative control: a replaced word in %s is found', (_place, text, found) => {
    expect(replacedWordsIn(text)).toEqual(found);
  });

  test.each(['renews', 'newSession', 'a plane', "channel 'seat_news'", 'set fence = $4'])('%s is no replaced word', (text) => {
    expect(replacedWordsIn(text)).toEqual([]);
  });
});
