import { allRoutes, idempotencyKeyFaults, routesWithoutAccess, type RouteFact } from './architecture/routes.ts';
import { migrations, productionSources, testSources } from './architecture/sources.ts';
import { barrelsIn } from './architecture/barrels.ts';
import { intervalFaults } from './architecture/intervals.ts';
import { fakesWithoutContract } from './architecture/fakes.ts';
import { filesWithReplacedWords, REPLACED, replacedWordsIn, wordsInGlossary } from './architecture/words.ts';
import { sharedStatementNames, statementNamesIn } from './architecture/statement-names.ts';
import { ownershipFaults, tableUsers, tablesIn } from './architecture/table-owners.ts';

// Rules about the whole code: which context owns a table, what each route must declare, which words are not used. Each rule is a
// pure function, and each is tested with examples that it must refuse. tests/architecture/imports.test.ts checks the imports.

const sources = productionSources();

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
      table: 'audit_log',
      in: /^apps\/monolith\/src\/audit\//,
      because: 'the transaction manager adds rows; this context reads them',
    },
    {
      table: 'matches',
      in: /\/purchase\/hold\/outbound\/(hold-batch|why-not-held)\.sql\.ts$/,
      because: 'a hold reads the sale in the transaction that commits it; the reason of a refusal is read by the same clock',
    },
    {
      table: 'matches',
      in: /\/quota\/tree\/quotas\.sql\.ts$/,
      because: 'once a second one statement finds the returned quotas of matches that have not begun',
    },
    {
      table: 'matches',
      in: /\/quota\/claims\/claims\.sql\.ts$/,
      because: 'once a second one statement finds the open invitations of cancelled matches',
    },
    {
      table: 'quota_move_requests',
      in: /\/purchase\/quota-places\//,
      because: 'the count of places tells pending moves from invitations in one statement',
    },
    ...['broadcasts', 'broadcast_devices'].map((table) => ({
      table,
      in: /\/fans\/postgres-fan-broadcasts\.ts$/,
      because: 'one statement in the context that owns the devices stores the receivers of a broadcast',
    })),
  ];
  const tables = tablesIn(migrations());

  test('each table is read and written by one context or library only', () => {
    expect(ownershipFaults(tableUsers(tables, sources, excuses), ['retention_runs', 'erased_matches'])).toEqual([]);
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

describe('fakes', () => {
  const options = {
    // `Payments` is the part of `PaymentApi` that checkout uses.
    suites: {
      Payments: 'payment-provider.contract.ts',
      // The places of claims, and the stores of quotas, are tested together.
      InvitedPlaces: 'quota-places-api.contract.ts',
      ...Object.fromEntries(['Quotas', 'Moves', 'Invitations', 'Claims'].map((port) => [port, 'quota-stores.contract.ts'])),
    },
    withoutRules: { LoaderTime: 'a clock that the test moves', PollLog: 'it keeps what it is told' },
  };

  test('each fake passes the contract of its port, and so does the adapter', () => {
    expect(fakesWithoutContract(testSources(), options)).toEqual([]);
  });

  const testing = 'apps/monolith/src/purchase/testing';
  const file = (path: string, text = '', specifiers: readonly string[] = []) => ({
    path,
    text,
    imports: specifiers.map((specifier) => ({ specifier, line: 1 })),
  });
  const fake = file(`${testing}/memory-orders.ts`, 'export class MemoryOrders extends Orders {}');
  const suite = file(`${testing}/orders.contract.ts`);
  const ofFake = file(`${testing}/memory-orders.test.ts`, '', ['./memory-orders.ts', './orders.contract.ts']);
  const ofAdapter = file('apps/monolith/src/purchase/checkout/outbound/postgres-orders.db.test.ts', '', [
    '../../testing/orders.contract.ts',
  ]);

  test.each([
    ['without a contract', [fake, ofFake, ofAdapter], ['MemoryOrders has no orders.contract.ts']],
    ['without a run of the fake', [fake, suite, ofAdapter], ['orders.contract.ts does not run against MemoryOrders']],
    ['without a run of the adapter', [fake, suite, ofFake], ['orders.contract.ts does not run against the adapter of Orders']],
    ['with both runs', [fake, suite, ofFake, ofAdapter], []],
  ])('negative control: a fake %s', (_case, files, faults) => {
    expect(fakesWithoutContract(files, {})).toEqual(faults);
  });

  test('each fake of purchase is found', () => {
    const names = [
      ...testSources()
        .map(({ text }) => text)
        .join('\n')
        .matchAll(/^export class (Memory\w+)/gm),
    ].map(([, name]) => name);
    const found = fakesWithoutContract(
      testSources().filter(({ path }) => !path.endsWith('.contract.ts')),
      {},
    );
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(found).toContainEqual(expect.stringMatching(new RegExp(`^${name} has no `)));
  });
});

describe('statements', () => {
  test('each prepared statement has a name of its own', () => {
    expect(sharedStatementNames(sources)).toEqual([]);
    // The name of every statement is found: as many names as definitions.
    const definitions = sources.flatMap(({ text }) => [...text.matchAll(/= namedSql\b/g)]);
    expect(statementNamesIn(sources)).toHaveLength(definitions.length);
    expect(definitions.length).toBeGreaterThan(80);
  });

  test('negative control: a name of two statements is found', () => {
    const texts = ["namedSql('a', 'select 1')", "namedSql<{\n  readonly id: string;\n}>(\n  'a',", "namedSql('b', '')"];
    expect(sharedStatementNames(texts.map((text) => ({ text })))).toEqual(['a']);
  });
});

describe('periodic tasks', () => {
  /** The files with a timer that is not a periodic task of a service, each with the reason. */
  const allowed = {
    'libs/platform/src/schedule/periodic-task.ts': 'the engine of all periodic tasks',
    'libs/platform/src/http/http-app.ts': 'it answers overdue writes until the HTTP server has closed, after all periodic tasks',
    'libs/platform/src/http/unread-answers.ts': 'it watches the connections of one HTTP server until this server has closed',
    'libs/platform/src/http/raw-connection.ts': 'it belongs to one HTTP server and runs only while this server closes',
    'libs/platform/src/idempotency/idempotency-cache.ts':
      'it renews the locks of requests, which run longer than the periodic tasks',
    'libs/platform/src/watchdog/watchdog.ts': 'it shows that the event loop runs, also while the tasks end',
    'libs/platform/src/watchdog/watchdog-thread.ts': 'it is the clock of a thread that watches the process',
    'libs/event-loader/src/adapters/redis-locks.ts': 'it renews one lock',
    'libs/queue-client/src/transports.ts': 'it sends the heartbeats of one connection, in a browser',
    'apps/queue-service/src/waiting-room/inbound/pods.listener.ts': 'it pings one connection',
    'apps/monolith/src/cli/demo-crowd.ts': 'it prints the progress of one command',
    'apps/web/src/parts/waiting-line.tsx': 'it belongs to one element of a page in a browser',
    'apps/web/src/parts/countdown.tsx': 'it belongs to one element of a page in a browser',
  };

  test('production code uses setInterval only for one lock, stream or connection; periodic tasks register with PeriodicTasks', () => {
    expect(intervalFaults(sources, allowed)).toEqual([]);
  });

  test('only PeriodicTasks uses @nestjs/schedule, whose own decorators let a task overlap itself', () => {
    const users = sources
      .filter(({ imports }) => imports.some(({ specifier }) => specifier === '@nestjs/schedule'))
      .map(({ path }) => path);
    expect(users).toEqual(['libs/platform/src/schedule/periodic-tasks.ts', 'libs/platform/src/schedule/scheduling.module.ts']);
  });

  test.each([
    ['a call', 'setInterval(() => run(), 1000);'],
    ['a call through globalThis', 'this.timer = globalThis.setInterval(run, 1000);'],
    ['a renamed import', `import { setInterval as every } from 'node:timers';`],
  ])('negative control: %s of setInterval is found', (_form, text) => {
    expect(intervalFaults([{ path: 'libs/platform/src/clock.ts', text }], {})).toHaveLength(1);
  });

  test('a comment or a string about setInterval is no fault; an allowed file without setInterval is one', () => {
    const file = { path: 'libs/platform/src/clock.ts', text: `// no setInterval here\nexport const a = 'setInterval';` };
    expect(intervalFaults([file], {})).toEqual([]);
    expect(intervalFaults([file], { [file.path]: 'no reason' })).toHaveLength(1);
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
    'POST /internal/rehearsals/:id': 'internal: it changes nothing',
    'POST /api/v1/invitations/lookup': 'it only reads; the token is in the body so that no log has it',
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
    schemas: { answers: [] },
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
