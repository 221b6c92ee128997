import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { newId } from '#platform/ids';
import { createLogger } from '#platform/logging/logger';
import { openDatabase } from '#platform/postgres/database';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import type { Delivery, Destination, RelayedMessage } from './destination.ts';
import { OutboxRelay } from './outbox-relay.ts';
import { PostgresOutbox } from './postgres-outbox.ts';

const silent = createLogger({ service: 'test', level: 'silent' });
const outbox = new PostgresOutbox();
let testDatabase: TestDatabase;
let database: DataSource;
let transactions: PostgresTransactionManager;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'bundles-test', poolSize: 8 });
  transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
});

beforeEach(async () => void (await database.query('truncate outbox, queued_jobs')));

afterAll(async () => {
  await database.destroy();
  await testDatabase.close();
});

interface Body {
  readonly job_id: string;
  readonly title: string;
  readonly range?: { readonly from: number; readonly to: number };
  readonly ranges?: string;
}

const accept = (): Delivery['outcome'] => 'delivered';

/** A destination that records the bodies it receives and returns the outcome that `answer` gives for each. */
class Recorder implements Destination {
  readonly name = 'push';
  readonly batchSize = 1000;
  readonly keepsCopy = true;
  readonly refusesStale = true;
  readonly received: Body[] = [];
  constructor(
    private readonly answer: (body: Body) => Delivery['outcome'] = accept,
    readonly minRowsForBundles?: number,
  ) {}
  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const bodies = messages.map(({ body }) => body as Body);
    this.received.push(...bodies);
    return messages.map(({ id }, index) => ({ id, outcome: this.answer(bodies[index] as Body), error: 'no' }) as Delivery);
  }
}

const relayTo = (destination: Destination): OutboxRelay => new OutboxRelay(database, destination, silent);
const rangesIn = ({ ranges = '[]' }: Body): [string, { from: number; to: number }][] => JSON.parse(ranges) as never;

/** Writes outbox rows of one series (the messages of one broadcast); returns their ids in order. */
async function writeSeries(count: number, title: string): Promise<string[]> {
  const series = newId();
  const ids = Array.from({ length: count }, () => newId());
  await transactions.run((tx) =>
    outbox.append(
      tx,
      ids.map((id, n) => ({
        id,
        series,
        destination: 'push',
        event: 'match.changed',
        body: { job_id: id, title, range: { from: n * 500, to: (n + 1) * 500 } },
      })),
    ),
  );
  return ids;
}

const readCounts = async (): Promise<{ waiting: number; parked: number; copies: number[] }> => {
  const [rows] = await database.query<{ waiting: number; parked: number }[]>(
    `select count(*) filter (where parked_at is null)::int as waiting, count(*) filter (where parked_at is not null)::int as parked from outbox`,
  );
  const copies = await database.query<{ jobs: number }[]>('select jobs from queued_jobs order by jobs');
  return { waiting: rows?.waiting ?? -1, parked: rows?.parked ?? -1, copies: copies.map(({ jobs }) => jobs) };
};

test('the rows of a broadcast are delivered as one bundle with all their ids and device ranges, and the copy in the table `queued_jobs` is the bundle', async () => {
  const [croatian, english] = [await writeSeries(10, 'Promjena'), await writeSeries(5, 'Change')];
  const destination = new Recorder(accept, 4);
  expect(await relayTo(destination).runOnce()).toBe(15);
  const bundles = destination.received.toSorted((a, b) => (a.title < b.title ? 1 : -1));
  expect(bundles.map(({ title }) => title)).toEqual(['Promjena', 'Change']);
  expect(bundles.map((bundle) => rangesIn(bundle).map(([id]) => id))).toEqual([croatian, english]);
  expect(rangesIn(bundles[1] as Body).at(-1)).toEqual([english.at(-1), { from: 2000, to: 2500 }]);
  expect(await readCounts()).toEqual({ waiting: 0, parked: 0, copies: [5, 10] });
  const copies = await database.query<{ same: boolean }[]>(
    `select message_id::text = body ->> 'job_id' and not body ? 'range' as same from queued_jobs`,
  );
  expect(copies).toEqual([{ same: true }, { same: true }]);
});

test.each([
  ['with fewer rows than the minimum for bundles', 3, 4],
  ['to a destination without bundles', 10, undefined],
])('%s, the rows of a broadcast are delivered one by one', async (_name, count, minRowsForBundles) => {
  const ids = await writeSeries(count, 'Promjena');
  const destination = new Recorder(accept, minRowsForBundles);
  await relayTo(destination).runOnce();
  expect(destination.received.map(({ job_id, range }) => [job_id, range !== undefined])).toEqual(ids.map((id) => [id, true]));
  expect(await readCounts()).toEqual({ waiting: 0, parked: 0, copies: ids.map(() => 1) });
});

test('a message that belongs to no broadcast is delivered in the same run as a bundle, and a run takes at most `limit` rows', async () => {
  await writeSeries(6, 'Promjena');
  const alone = newId();
  const body = { job_id: alone, title: 'alone' };
  await transactions.run((tx) => outbox.append(tx, [{ id: alone, destination: 'push', event: 'test', body }]));
  const destination = new Recorder(accept, 4);
  const relay = relayTo(destination);
  expect([await relay.runOnce(5), destination.received.length]).toEqual([5, 1]);
  expect([await relay.runOnce(), destination.received.slice(1).map(({ title }) => title)]).toEqual([2, ['Promjena', 'alone']]);
});

test('a run of the relay with a limit below the number of due rows takes the oldest rows', async () => {
  const ids = await writeSeries(12, 'Promjena');
  const destination = new Recorder(accept, 4);
  const relay = relayTo(destination);
  await relay.runOnce(5);
  await relay.runOnce(5);
  const bundledIds = destination.received.map((bundle) => rangesIn(bundle).map(([id]) => id));
  expect(bundledIds.map((ids) => ids.toSorted())).toEqual([ids.slice(0, 5).toSorted(), ids.slice(5, 10).toSorted()]);
});

test('when the delivery of a bundle throws, all rows stay in the outbox and the next run delivers them', async () => {
  await writeSeries(8, 'Promjena');
  const failing = new Recorder(() => {
    throw new Error('no Redis');
  }, 4);
  await expect(relayTo(failing).runOnce()).rejects.toThrow('no Redis');
  expect(await readCounts()).toEqual({ waiting: 8, parked: 0, copies: [] });
  // The failed attempt may have delivered its bundle. The second bundle has another id, but its jobs have the same ids.
  const working = new Recorder(accept, 4);
  await relayTo(working).runOnce();
  expect(rangesIn(working.received[0] as Body)).toEqual(rangesIn(failing.received[0] as Body));
  expect(working.received[0]?.job_id).not.toBe(failing.received[0]?.job_id);
});

test('when a bundle is refused, its rows are delivered one by one and only the row that is refused alone, too, is parked', async () => {
  const [, bad] = await writeSeries(8, 'Promjena');
  const destination = new Recorder(({ job_id, ranges }) => (ranges || job_id === bad ? 'poison' : 'delivered'), 4);
  await relayTo(destination).runOnce();
  expect(await readCounts()).toEqual({ waiting: 0, parked: 1, copies: Array.from({ length: 7 }, () => 1) });
});

test('when three relays run at the same time, each row is delivered in exactly one bundle', async () => {
  const ids = await writeSeries(3000, 'Promjena');
  const destinations = [1, 2, 3].map(() => new Recorder(accept, 4));
  const drain = async (relay: OutboxRelay): Promise<void> => {
    while ((await relay.runOnce(200)) > 0);
  };
  await Promise.all(destinations.map((destination) => drain(relayTo(destination))));
  const deliveredIds = destinations.flatMap(({ received }) =>
    received.flatMap((body) => (body.ranges ? rangesIn(body).map(([id]) => id) : [body.job_id])),
  );
  expect(deliveredIds.toSorted()).toEqual(ids.toSorted());
});

test('rows of a broadcast that are older than a week are parked, and its newer rows are delivered as a bundle', async () => {
  const old = await writeSeries(4, 'last week');
  await database.query(`update outbox set created_at = now() - interval '9 days'`);
  await writeSeries(5, 'today');
  const destination = new Recorder(accept, 4);
  await relayTo(destination).runOnce();
  expect(destination.received.map(({ title }) => title)).toEqual(['today']);
  expect(await readCounts()).toEqual({ waiting: 0, parked: old.length, copies: [5] });
});
