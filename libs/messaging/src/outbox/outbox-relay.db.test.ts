import type { OutboxMessage } from '#application/outbox';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import { Registry } from 'prom-client';
import type { DataSource } from 'typeorm';
import { newId } from '#platform/ids';
import { createLogger } from '#platform/logging/logger';
import { openDatabase } from '#platform/postgres/database';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import type { Delivery, Destination, RelayedMessage } from './destination.ts';
import { observeOutbox } from './outbox-metrics.ts';
import { OutboxRelay } from './outbox-relay.ts';
import { PostgresOutbox } from './postgres-outbox.ts';

const silent = createLogger({ service: 'test', level: 'silent' });
const outbox = new PostgresOutbox();
let testDatabase: TestDatabase;
let database: DataSource;
let transactions: PostgresTransactionManager;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'outbox-test', poolSize: 8 });
  transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
});

beforeEach(async () => void (await database.query('truncate outbox, queued_jobs, inbox')));

afterAll(async () => {
  await database.destroy();
  await testDatabase.close();
});

/** A destination that records the bodies it receives and lets `treat` decide the outcome of each batch. */
class Recorder implements Destination {
  readonly received: unknown[] = [];
  readonly batches: number[] = [];
  constructor(
    private readonly treat: (
      messages: readonly RelayedMessage[],
    ) => Promise<readonly Delivery[]> | readonly Delivery[] = delivered,
    readonly batchSize = 1000,
    readonly name = 'email',
  ) {}
  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    this.batches.push(messages.length);
    this.received.push(...messages.map(({ body }) => body));
    return this.treat(messages);
  }
}

const delivered = (messages: readonly RelayedMessage[]): Delivery[] => messages.map(({ id }) => ({ id, outcome: 'delivered' }));
const relayTo = (destination: Destination, deliveryTimeoutMs?: number): OutboxRelay =>
  new OutboxRelay(database, destination, silent, deliveryTimeoutMs);

function messagesFor(bodies: readonly unknown[], fields: Partial<OutboxMessage> = {}): OutboxMessage[] {
  return bodies.map((body) => ({ id: newId(), destination: 'email', event: 'test', body, ...fields }));
}

const append = (messages: readonly OutboxMessage[]): Promise<void> => transactions.run((tx) => outbox.append(tx, messages));

function rows(): Promise<{ body: unknown; attempts: number; last_error: string | null; parked: boolean; wait: number }[]> {
  return database.query(`select body, attempts, last_error, parked_at is not null as parked,
                                extract(epoch from available_at - now())::float as wait from outbox order by seq`);
}

/** Makes all rows due, as if the delay before the next attempt had passed. */
const becomeDue = (): Promise<unknown> => database.query('update outbox set available_at = now()');

test('a message is delivered if its transaction committed, and not if it rolled back', async () => {
  await append(messagesFor(['kept']));
  const rolledBack = transactions.run(async (tx) => {
    await outbox.append(tx, messagesFor(['lost']));
    throw new Error('no');
  });
  await expect(rolledBack).rejects.toThrow('no');
  const recorder = new Recorder();
  expect([await relayTo(recorder).runOnce(), recorder.received, await rows()]).toEqual([1, ['kept'], []]);
});

test('three concurrent relays deliver each message once, and the messages of an aggregate in the order they were written', async () => {
  const aggregates = ['order-1', 'order-2', 'order-3', 'order-4', 'order-5'];
  for (let step = 0; step < 12; step += 1) {
    await append(aggregates.flatMap((aggregateId) => messagesFor([{ aggregateId, step }], { aggregateId })));
  }
  const arrived: { aggregateId: string; step: number }[] = [];
  const recorder = new Recorder(async (messages) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
    arrived.push(...messages.map(({ body }) => body as { aggregateId: string; step: number }));
    return delivered(messages);
  }, 2);
  const drain = async (relay: OutboxRelay): Promise<void> => {
    while ((await rows()).length > 0) await relay.runOnce();
  };
  await Promise.all([drain(relayTo(recorder)), drain(relayTo(recorder)), drain(relayTo(recorder))]);
  const inOrder = Array.from({ length: 12 }, (_, step) => step);
  for (const id of aggregates) {
    expect(arrived.filter(({ aggregateId }) => aggregateId === id).map(({ step }) => step)).toEqual(inOrder);
  }
});

test('two concurrent relays never deliver the same message', async () => {
  await append(messagesFor(Array.from({ length: 20 }, (_, index) => index)));
  let reportBothDelivering = (): void => undefined;
  const bothDelivering = new Promise<void>((resolve) => (reportBothDelivering = resolve));
  const recorder: Recorder = new Recorder(async (messages) => {
    if (recorder.batches.length === 2) reportBothDelivering();
    await bothDelivering;
    return delivered(messages);
  }, 10);
  await Promise.all([relayTo(recorder).runOnce(), relayTo(recorder).runOnce()]);
  expect([recorder.batches, new Set(recorder.received).size]).toEqual([[10, 10], 20]);
});

describe('the relay delivers the oldest messages first', () => {
  /** Writes thirty messages whose ids are in descending order, and moves three rows to the end of the table. */
  async function writeThirtyOutOfOrder(): Promise<number[]> {
    const ids = Array.from({ length: 30 }, () => newId()).toReversed();
    const written = Array.from({ length: 30 }, (_, index) => index);
    for (const index of written) await append([{ ...messagesFor([index])[0]!, id: ids[index]! }]);
    // An update of an indexed column writes a new row version at the end of the table and new index entries.
    for (const index of [3, 0, 12])
      await database.query(`update outbox set id = $2, attempts = 1 where id = $1`, [ids[index], newId()]);
    return written;
  }

  test('over three batches, by the order of writing and not by the order of ids', async () => {
    const written = await writeThirtyOutOfOrder();
    const recorder = new Recorder(delivered, 10);
    const relay = relayTo(recorder);
    for (let batch = 1; batch <= 3; batch += 1) {
      await relay.runOnce();
      expect(recorder.received).toEqual(written.slice(0, batch * 10));
    }
  });

  test('even if PostgreSQL reads the rows in the order of the table instead of by index', async () => {
    const written = await writeThirtyOutOfOrder();
    // PostgreSQL may read without the index when its statistics are old. Then only ORDER BY guarantees the order.
    const url = `${testDatabase.url}?options=${encodeURIComponent('-c enable_indexscan=off -c enable_indexonlyscan=off')}`;
    const unsorted = await openDatabase({ url, name: 'outbox-test-unsorted', poolSize: 2 });
    try {
      const recorder = new Recorder(delivered, 10);
      const relay = new OutboxRelay(unsorted, recorder, silent);
      while ((await relay.runOnce()) > 0);
      expect(recorder.received).toEqual(written);
    } finally {
      await unsorted.destroy();
    }
  });
});

test('2,500 messages are delivered in three batches of at most 1,000', async () => {
  await append(messagesFor(Array.from({ length: 2500 }, (_, index) => index)));
  const recorder = new Recorder(delivered, 5000);
  const relay = relayTo(recorder);
  expect([await relay.runOnce(), await relay.runOnce(), await relay.runOnce(), await relay.runOnce()]).toEqual([
    1000, 1000, 500, 0,
  ]);
  expect(new Set(recorder.received).size).toBe(2500);
});

test('when the relay is killed between delivery and commit, the message is delivered a second time with the same id', async () => {
  const [message] = messagesFor(['once more']);
  await append(message ? [message] : []);
  const ids: string[] = [];
  const recorder = new Recorder(async (messages) => {
    ids.push(...messages.map(({ id }) => id));
    const kill = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%skip locked%' and pid <> pg_backend_pid()`;
    if (ids.length === 1) await database.query(kill);
    return delivered(messages);
  });
  await expect(relayTo(recorder).runOnce()).rejects.toThrow();
  await relayTo(recorder).runOnce();
  expect([ids, await rows()]).toEqual([[message?.id, message?.id], []]);
});

test('when `deliver` throws (destination unavailable), no attempt is counted for the messages', async () => {
  await append(messagesFor(['a', 'b']));
  const failing = relayTo(new Recorder(() => Promise.reject(new Error('destination down'))));
  for (let run = 0; run < 12; run += 1) await expect(failing.runOnce()).rejects.toThrow('destination down');
  expect(await rows()).toMatchObject([
    { attempts: 0, parked: false },
    { attempts: 0, parked: false },
  ]);
});

test('when `deliver` does not answer before the timeout, the messages stay in the outbox and no attempt is counted', async () => {
  await append(messagesFor(['a']));
  const mute = new Recorder(() => new Promise(() => undefined));
  await expect(relayTo(mute, 50).runOnce()).rejects.toThrow('did not answer the delivery of 1 messages within 50 ms');
  expect(await rows()).toMatchObject([{ attempts: 0, parked: false }]);
});

test('a message that can never be delivered (poison) is parked at once, and later messages are delivered, even those of its aggregate', async () => {
  await append([...messagesFor(['bad', 'after it'], { aggregateId: 'order-1' }), ...messagesFor(['other'])]);
  const recorder: Recorder = new Recorder((messages) =>
    messages.map(({ id, body }) =>
      body === 'bad' ? { id, outcome: 'poison', error: 'not a job\0 of ours' } : { id, outcome: 'delivered' },
    ),
  );
  const relay = relayTo(recorder);
  while ((await relay.runOnce()) > 0);
  expect(recorder.received).toEqual(['bad', 'other', 'after it']);
  expect(await rows()).toMatchObject([{ body: 'bad', parked: true, last_error: 'not a job of ours' }]);
});

test('a message whose delivery fails waits longer each time, delays only messages of its aggregate, and is parked after ten failures', async () => {
  await append([...messagesFor(['failing', 'behind it'], { aggregateId: 'order-1' }), ...messagesFor(['other'])]);
  const recorder: Recorder = new Recorder((messages) =>
    messages.map(({ id, body }) => (body === 'failing' ? { id, outcome: 'failed', error: 'no' } : { id, outcome: 'delivered' })),
  );
  const relay = relayTo(recorder);
  const waits: number[] = [];
  for (let failure = 1; failure <= 9; failure += 1) {
    await relay.runOnce();
    expect(await relay.runOnce()).toBe(0);
    waits.push(Math.ceil((await rows())[0]?.wait ?? -1));
    await becomeDue();
  }
  expect(waits).toEqual([1, 1, 2, 4, 8, 16, 32, 60, 60]);
  expect(recorder.received.filter((body) => body !== 'failing')).toEqual(['other']);
  await relay.runOnce();
  await relay.runOnce();
  expect(recorder.received.at(-1)).toBe('behind it');
  expect(await rows()).toMatchObject([{ body: 'failing', parked: true, attempts: 10 }]);
  const [row] = await database.query<{ failures: { at: string; error: string }[] }[]>('select failures from outbox');
  expect(row?.failures.map(({ error }) => error)).toEqual(Array.from({ length: 10 }, () => 'no'));
  const times = row?.failures.map(({ at }) => Date.parse(at)) ?? [];
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

describe('a message older than a week', () => {
  class ToPeople extends Recorder {
    readonly refusesStale = true;
    readonly keepsCopy = true;
  }
  const makeNineDaysOld = (): Promise<unknown> => database.query(`update outbox set created_at = now() - interval '9 days'`);

  test('is parked if its destination sends mails or pushes, and a newer message is delivered', async () => {
    await append(messagesFor(['old']));
    await makeNineDaysOld();
    await append(messagesFor(['new']));
    const recorder = new ToPeople();
    await relayTo(recorder).runOnce();
    expect([recorder.received, await rows()]).toMatchObject([
      ['new'],
      [{ body: 'old', parked: true, last_error: expect.stringContaining('--force') as string }],
    ]);
  });

  test('is delivered if it goes to a destination that accepts old messages, for example a refund to the payment provider', async () => {
    await append(messagesFor(['refund']));
    await makeNineDaysOld();
    const recorder = new Recorder();
    await relayTo(recorder).runOnce();
    expect([recorder.received, await rows()]).toEqual([['refund'], []]);
  });

  test('is delivered when an operator forces a run of the relay, unless the inbox says that it was sent before', async () => {
    const [sentMail, unsent] = messagesFor(['sent before', 'never sent']);
    await append([sentMail, unsent] as OutboxMessage[]);
    await makeNineDaysOld();
    await database.query(`insert into inbox values ('email', $1, now(), now(), 1)`, [sentMail?.id]);
    const recorder = new ToPeople();
    const relay = relayTo(recorder);
    await relay.runOnce();
    expect(recorder.received).toEqual([]);
    expect(await relay.runOnce(1000, { force: true })).toBe(2);
    expect([recorder.received, await rows()]).toEqual([['never sent'], []]);
    const copies = await database.query<{ message_id: string }[]>('select message_id from queued_jobs');
    expect(copies.map(({ message_id }) => message_id)).toEqual([unsent?.id]);
  });
});

test('an undelivered message does not delay a message of the same aggregate to another destination', async () => {
  await append(messagesFor(['complete the window'], { aggregateId: 'order-1', destination: 'waiting-room' }));
  await append(messagesFor(['the tickets'], { aggregateId: 'order-1' }));
  const recorder = new Recorder();
  await relayTo(recorder).runOnce();
  expect([recorder.received, (await rows()).length]).toEqual([['the tickets'], 1]);
});

test('the metrics show the number of waiting messages, the age of the oldest waiting message, and the number of parked messages', async () => {
  const registry = new Registry();
  observeOutbox(registry, database);
  await append(messagesFor(['a', 'b', 'c']));
  await database.query(`update outbox set created_at = now() - interval '90 s' where body = '"b"'`);
  await database.query(`update outbox set parked_at = now() where body = '"c"'`);
  const values = new Map((await registry.getMetricsAsJSON()).map(({ name, values: [first] }) => [name, first?.value]));
  expect([values.get('outbox_pending'), values.get('outbox_parked')]).toEqual([2, 1]);
  expect(values.get('outbox_lag_seconds')).toBeCloseTo(90, -1);
});
