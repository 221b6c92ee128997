import { importRules, importViolations, purchaseFeatures } from './import-rules.ts';
import { importsIn, productionSources } from './sources.ts';
import { locationOf } from './code-locations.ts';

// Which file may import which. Only this test checks it; the linter (tests/lint-canaries.test.ts) checks what a file may do without an
// import, such as read the clock.

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
      ['libs/domain/src/purchase/order.ts', 'crypto'],
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
      ['libs/application/src/clock.ts', '#platform/postgres/database'],
    ],
    'libs/contracts imports zod, the domain and itself': [
      ['libs/contracts/src/queue-jobs.ts', '#platform/ids'],
      ['libs/contracts/src/queue-jobs.ts', 'node:fs'],
    ],
    'the core of the event loader imports nothing outside itself': [
      ['libs/event-loader/src/core/ports.ts', '#platform/ids'],
      ['libs/event-loader/src/core/ports.ts', '../adapters/redis-locks.ts'],
      ['libs/event-loader/src/core/ports.ts', 'node:fs'],
      ['libs/event-loader/src/core/ports.ts', 'zod'],
      ['libs/event-loader/src/core/ports.ts', '#domain/shared/money'],
    ],
    'an app imports only the adapters of the event loader': [
      ['apps/monolith/src/cli/run-loader.ts', '#event-loader/core/round-robin-event-loader'],
    ],
    'libs/platform imports only the pure libraries, npm packages and itself': [
      ['libs/platform/src/postgres/database.ts', '#messaging/outbox/outbox-relay'],
      ['libs/platform/src/http/endpoint.ts', '../../../ticketing/src/ticket-qr.ts'],
      ['libs/platform/src/http/endpoint.ts', '#queue-client/transports'],
    ],
    'libs/messaging imports only the pure libraries, libs/platform, npm packages and itself': [
      ['libs/messaging/src/outbox/outbox-relay.ts', '#ticketing/ticket-pdf'],
      ['libs/messaging/src/outbox/outbox-relay.ts', '#event-loader/adapters/redis-locks'],
    ],
    'libs/ticketing draws documents and reads ticket keys: it imports only the domain, npm packages and itself': [
      ['libs/ticketing/src/ticket-pdf.ts', '#platform/ids'],
    ],
    'a library never imports an app': [
      ['libs/platform/src/ids.ts', '../../../apps/monolith/src/config.ts'],
      ['libs/event-loader/src/adapters/redis-locks.ts', '../../../../apps/monolith/src/config.ts'],
      ['libs/testing/src/tcp-proxy.ts', '../../../apps/web/src/main.tsx'],
    ],
    'an app never imports another app': [
      ['apps/monolith/src/monolith.ts', '../../queue-service/src/config.ts'],
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../../../../../queue-service/src/waiting-room/waiting-room.api.ts'],
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../../../../../queue-service/src/config.ts'],
      [`${purchase}/inbound/purchase.listener.ts`, '../../../../queue-service/src/config.ts'],
      [`${purchase}/hold/hold.providers.ts`, '../../../../queue-service/src/config.ts'],
      [`${purchase}/purchase.module.ts`, '../../../queue-service/src/config.ts'],
      ['apps/monolith/src/cli/demo-data.ts', '../../../queue-service/src/config.ts'],
    ],
    'libs/queue-client, which runs in browsers, imports libs/contracts and itself': [
      ['libs/queue-client/src/transports.ts', 'node:net'],
      ['libs/queue-client/src/transports.ts', '#platform/ids'],
    ],
    'apps/web imports only npm packages, libs/contracts, libs/queue-client and its own files': [
      ['apps/web/src/main.tsx', '#platform/ids'],
      ['apps/web/src/main.tsx', '#domain/shared/money'],
      ['apps/web/src/main.tsx', 'node:fs'],
      ['apps/web/src/main.tsx', 'fs'],
    ],
    'a context imports only the x.api.ts of another context; modules and the command line may also import its module': [
      [`${purchase}/availability/outbound/catalog-matches.ts`, '../../../catalog/outbound/postgres-catalog.ts'],
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../../../ticketing/ticketing.module.ts'],
      [`${purchase}/checkout/checkout.providers.ts`, '../../ticketing/ticketing.module.ts'],
      [`${purchase}/purchase.module.ts`, '../ticketing/application/ticketing.ts'],
      [`${purchase}/hold/hold.providers.ts`, '../../catalog/outbound/postgres-catalog.ts'],
      [`${purchase}/inbound/purchase.listener.ts`, '../../catalog/application/list-matches.ts'],
      [`${purchase}/outbound/postgres-purchase-api.ts`, '../../catalog/outbound/postgres-catalog.ts'],
      ['apps/monolith/src/cli/demo-data.ts', '../operations/application/create-match.ts'],
      ['apps/monolith/src/cli/demo-data.ts', '../catalog/outbound/postgres-catalog.ts'],
      ['apps/monolith/src/cli/demo-data.ts', '../catalog/inbound/matches.controller.ts'],
      ['apps/monolith/src/cli/demo-data.ts', '../purchase/checkout/outbound/postgres-orders.ts'],
      ['apps/monolith/src/cli/demo-data.ts', '../purchase/checkout/inbound/orders.controller.ts'],
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
      [`${purchase}/hold/application/hold-seats.ts`, '../inbound/reservation-view.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../outbound/postgres-reservations.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../../availability/outbound/postgres-seat-inventory.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../../availability/inbound/availability.controller.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../hold.providers.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../../../catalog/catalog.api.ts'],
      [`${purchase}/hold/application/hold-seats.ts`, '../../../catalog/domain/sale.ts'],
      [`${purchase}/application/ports.ts`, '#platform/postgres/database'],
      [`${purchase}/application/ports.ts`, '../inbound/purchase.schemas.ts'],
      [`${purchase}/application/ports.ts`, '../outbound/postgres-purchase-api.ts'],
      [`${purchase}/application/ports.ts`, '../../catalog/catalog.api.ts'],
    ],
    'the application folder that the features of a context share imports no feature': [
      [`${purchase}/application/ports.ts`, '../hold/application/ports.ts'],
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
      [`${purchase}/inbound/purchase.listener.ts`, '../outbound/postgres-purchase-api.ts'],
      [`${purchase}/inbound/purchase.listener.ts`, '../checkout/outbound/postgres-orders.ts'],
    ],
    'outbound imports ports and readers, but no use case and nothing from inbound': [
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../application/check-out.ts'],
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../../hold/application/hold-seats.ts'],
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../inbound/order-view.ts'],
      [`${purchase}/checkout/outbound/postgres-orders.ts`, '../../hold/inbound/hold.controller.ts'],
      [`${purchase}/outbound/postgres-purchase-api.ts`, '../application/purchase-report.ts'],
      [`${purchase}/outbound/postgres-purchase-api.ts`, '../inbound/purchase.listener.ts'],
      [`${purchase}/outbound/postgres-purchase-api.ts`, '../checkout/application/check-out.ts'],
      [`${purchase}/outbound/postgres-purchase-api.ts`, '../checkout/inbound/order-view.ts'],
    ],
    'in a context without layers only the module imports controllers, listeners and schedules': [
      ['apps/monolith/src/fans/devices.ts', './me.controller.ts'],
      ['apps/monolith/src/operations/check-sale.ts', './sale-watch.schedule.ts'],
    ],
    'an x.api.ts imports only libs/domain, libs/application and libs/contracts': [
      [`${purchase}/purchase.api.ts`, './checkout/outbound/postgres-orders.ts'],
      [`${purchase}/purchase.api.ts`, './checkout/application/check-out.ts'],
      [`${purchase}/purchase.api.ts`, './purchase.module.ts'],
      [`${purchase}/purchase.api.ts`, '../catalog/catalog.api.ts'],
      [`${purchase}/purchase.api.ts`, '../tokens.ts'],
      [`${purchase}/purchase.api.ts`, '#platform/ids'],
      [`${purchase}/purchase.api.ts`, 'node:crypto'],
      [`${purchase}/purchase.api.ts`, 'zod'],
      [`${purchase}/purchase.api.ts`, 'typeorm'],
    ],
    'server code imports another library by its name, such as #platform/ids, never by its path': [
      ['apps/monolith/src/app.module.ts', '../../../libs/platform/src/ids.ts'],
      [`${purchase}/checkout/inbound/orders.controller.ts`, '../../../../../../libs/contracts/src/queue-jobs.ts'],
      ['libs/platform/src/ids.ts', '../../domain/src/shared/money.ts'],
    ],
    'production code imports only npm packages and production code of apps and libs: no test code, no tools': [
      [`${purchase}/purchase.module.ts`, './testing/memory-orders.ts'],
      [`${purchase}/hold/hold.providers.ts`, '../testing/memory-orders.ts'],
      [`${purchase}/hold/outbound/hold-queue.ts`, '../../testing/memory-orders.ts'],
      [`${purchase}/checkout/inbound/orders.controller.ts`, './orders.contract.ts'],
      ['apps/monolith/src/app.module.ts', '#testing/test-database'],
      ['apps/monolith/src/cli/demo-data.ts', '#testing/test-database'],
      ['apps/monolith/src/app.module.ts', '../../../tools/local/build.ts'],
      ['apps/monolith/src/app.module.ts', '../../../bench/percentiles.ts'],
      ['apps/monolith/src/app.module.ts', '#unknown/library'],
      ['libs/event-loader/src/adapters/redis-locks.ts', '#testing/test-database'],
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
      const violations = importViolations([{ path: from, imports: [{ specifier, line: 7 }] }]);
      expect(violations.map((violation) => violation.split(': ').slice(1).join(': '))).toContain(sentence);
    },
  );

  test('a violation names file, line, the imported file and the rule', () => {
    const path = 'libs/domain/src/shared/money.ts';
    const imports = importsIn(`// the first line\n\nimport {\n  type Order,\n} from '../purchase/order.ts';`);
    expect(importViolations([{ path, imports }])).toEqual([
      `${path}:5 imports libs/domain/src/purchase/order.ts: ` +
        'a context folder of libs/domain imports only itself and shared, and shared imports only itself',
    ]);
  });

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
    ['apps/web/src/pages/match-page.tsx', '../api/client.ts'],
    ['apps/web/src/pages/match-page.tsx', '#contracts/matches'],
    ['apps/web/src/queue/waiting-room.ts', '../../../../libs/queue-client/src/queue-connection.ts'],
    [`${purchase}/hold/hold.providers.ts`, '../../catalog/catalog.api.ts'],
    [`${purchase}/hold/inbound/hold.controller.ts`, '@nestjs/common'],
    [`${purchase}/hold/inbound/hold.controller.ts`, '#platform/http/endpoint'],
    [`${purchase}/hold/outbound/hold-queue.ts`, '../../../catalog/catalog.api.ts'],
  ])('%s may import %s', (from, specifier) => {
    expect(importViolations([{ path: from, imports: [{ specifier, line: 1 }] }])).toEqual([]);
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
    expect(importsIn(text)).toEqual(
      ['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts'].map((specifier, index) => ({ specifier, line: index + 2 })),
    );
  });
});
