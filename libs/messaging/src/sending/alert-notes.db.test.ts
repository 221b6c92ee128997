import type { AlertOperators } from '#domain/notification/alert-operators';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { PostgresJobs } from '../jobs/job-ledger.ts';
import { newId } from '#platform/ids';
import { createLogger } from '#platform/logging/logger';
import { PostgresOutbox } from '../outbox/postgres-outbox.ts';
import { openDatabase } from '#platform/postgres/database';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { TimeOrderedIds } from '#platform/system-clock';
import { AlertNotes, type AlertNote } from './alert-notes.ts';
import { AlertUpkeep } from './alert-upkeep.ts';
import { Alerts } from './alerts.ts';
import { UnreportedFailures } from './unreported-failures.ts';

let testDatabase: TestDatabase;
let database: DataSource;
let transactions: PostgresTransactionManager;
let notes: AlertNotes;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'alerts-test', poolSize: 12 });
  transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  notes = openNotes();
});
beforeEach(async () => void (await database.query('truncate alert_notes, jobs, outbox, loaded_events_due')));
afterAll(async () => {
  await database.destroy();
  await testDatabase.close();
});

const openNotes = (): AlertNotes =>
  new AlertNotes(database, transactions, new PostgresJobs(new PostgresOutbox(), new TimeOrderedIds()));
const note = (n: number | string, more: Partial<AlertNote> = {}): AlertNote => ({
  ...{ way: 'webhook', about: 'dead letter', text: `job ${n}`, subject: `email:${n}:1` },
  ...more,
});
/** Reads the alerts that background jobs will send, oldest first. */
const alerts = async (): Promise<AlertOperators[]> =>
  (await database.query<{ message: AlertOperators }[]>('select message from jobs order by id')).map(({ message }) => message);
const texts = async (): Promise<string[]> => (await alerts()).map(({ by, text }) => `${by}: ${text}`);
/** Makes all alerts so far older by this number of seconds, as if that time had passed. */
const letSecondsPass = (passed: number): Promise<unknown> =>
  database.query(`update alert_notes set told_at = told_at - make_interval(secs => $1)`, [passed]);
/** Marks all jobs that send alerts as done, like the monolith does after the webhook has accepted them. */
const completeAlertJobs = (): Promise<unknown> => database.query('update jobs set done_at = now(), failed_at = null');

test('of two dead letters six seconds apart operators are alerted about the first at once, about the second 30 seconds after the first alert', async () => {
  await notes.add([note(1)]);
  await notes.createDueAlerts();
  await completeAlertJobs();
  await letSecondsPass(6);
  await notes.add([note(2)]);
  await notes.createDueAlerts();
  expect(await texts()).toEqual(['webhook: job 1']);
  await letSecondsPass(25);
  await notes.createDueAlerts();
  expect(await texts()).toEqual(['webhook: job 1', 'webhook: job 2']);
});

test('five hundred dead letters make at most three alerts, whose counts add up to five hundred', async () => {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const raising = new Alerts(logger, { ways: ['mail'], notes });
  for (let n = 1; n <= 500; n += 1) {
    raising.raise({ about: 'dead letter', text: `job ${n}`, subject: `email:${n}:1` });
    if (n % 100 === 0) await raising.settled();
  }
  await completeAlertJobs();
  await letSecondsPass(31);
  await notes.createDueAlerts();
  const told = await alerts();
  expect(told.length).toBeLessThan(4);
  expect(told.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(500);
});

test('when a process stored alert notes and stopped, another process alerts operators about them', async () => {
  const stopped = openNotes();
  await stopped.add([note(1)]);
  await stopped.createDueAlerts();
  await stopped.add([note(2), note(3)]);
  await completeAlertJobs();
  await letSecondsPass(31);
  await openNotes().createDueAlerts();
  expect((await texts()).at(-1)).toBe('webhook: 2 times: job 2; job 3');
});

test('a dead letter that two processes report makes one alert for each channel (webhook, mail)', async () => {
  const both: AlertNote[] = [note(1), note(1, { way: 'mail' })];
  await Promise.all([openNotes().add(both), openNotes().add(both)]);
  await notes.createDueAlerts();
  expect((await texts()).sort()).toEqual(['mail: job 1', 'webhook: job 1']);
});

test('notes without a subject, such as a breaker that opens twice, are not merged: the alert counts each', async () => {
  const opened = note('x', { subject: undefined, about: 'breaker opened', text: 'down' });
  await notes.add([opened]);
  await notes.add([opened]);
  await notes.createDueAlerts();
  expect(await texts()).toEqual(['webhook: 2 times: down; down']);
});

test('when four processes create alerts at the same time, each alert note is in exactly one alert', async () => {
  await notes.add(Array.from({ length: 200 }, (_, n) => note(n, { about: `kind ${n % 5}` })));
  await Promise.all([openNotes(), openNotes(), openNotes(), openNotes()].map((process) => process.createDueAlerts()));
  const told = (await alerts()).map(({ about, count }) => `${about}: ${count}`);
  expect(told.sort()).toEqual([0, 1, 2, 3, 4].map((kind) => `kind ${kind}: 40`));
});

test('while an alert is not delivered, later notes of the same kind for the same channel wait; notes of another kind or for another channel do not', async () => {
  await notes.add([note(1), note(1, { way: 'mail' })]);
  await notes.createDueAlerts();
  await database.query(`update jobs set done_at = now() where message ->> 'by' = 'mail'`);
  await letSecondsPass(31);
  await notes.add([note(2), note(2, { way: 'mail' }), note(3, { about: 'breaker' })]);
  await notes.createDueAlerts();
  expect((await texts()).slice(2).sort()).toEqual(['mail: job 2', 'webhook: job 3']);
  await completeAlertJobs();
  await notes.createDueAlerts();
  expect((await texts()).at(-1)).toBe('webhook: job 2');
});

test('an alert that is undelivered for more than an hour does not delay the alerts about later failures', async () => {
  await notes.add([note(1)]);
  await notes.createDueAlerts();
  await notes.add([note(2)]);
  await letSecondsPass(3601);
  await database.query(`update jobs set created_at = created_at - interval '61 minutes'`);
  await notes.createDueAlerts();
  expect(await texts()).toEqual(['webhook: job 1', 'webhook: job 2']);
});

test('retryFailedAlerts retries an alert job 30 seconds after it failed for good, and retries no failed job of another class', async () => {
  await notes.add([note(1)]);
  await notes.createDueAlerts();
  await database.query(
    `insert into jobs (id, class, message, failed_at) values ($1, 'refund_match', '{}', now() - interval '1 hour')`,
    [newId()],
  );
  await database.query(`truncate outbox`);
  await database.query(`update jobs set failed_at = now() - interval '29 s' where class = 'alert_operators'`);
  expect(await notes.retryFailedAlerts()).toBe(0);
  await database.query(`update jobs set failed_at = now() - interval '31 s' where class = 'alert_operators'`);
  expect([await notes.retryFailedAlerts(), await notes.retryFailedAlerts()]).toEqual([1, 0]);
  const [row] = await database.query<{ id: string }[]>(
    `select id from jobs where class = 'alert_operators' and failed_at is null`,
  );
  expect(await database.query('select destination, body from outbox')).toEqual([
    { destination: 'jobs', body: { job_id: row?.id, class: 'alert_operators', again: true } },
  ]);
});

describe('failures that are stored in PostgreSQL without an alert', () => {
  const upkeepOf = (process: AlertNotes): AlertUpkeep => {
    const failures = new UnreportedFailures(database);
    return new AlertUpkeep(
      process,
      ['webhook'],
      [() => failures.failedJobs(), () => failures.parkedMessages(), () => failures.parkedEvents()],
    );
  };

  test('are found, and operators are alerted once: failed jobs, parked messages and parked events', async () => {
    const [job, message] = [newId(), newId()];
    await database.query(`insert into jobs (id, class, message, failed_at) values ($1, 'refund_match', '{}', now())`, [job]);
    await database.query(`insert into jobs (id, class, message, failed_at) values ($1, 'alert_operators', '{}', now())`, [
      newId(),
    ]);
    await database.query(
      `insert into outbox (id, destination, event, body, parked_at) values ($1, 'payments', 'payment.refund', '{}', now())`,
      [message],
    );
    await database.query(
      `insert into loaded_events_due (source, event_id, feeds, parked_at) values ('gates', '7', 'gate-scans', now()), ('gates', '8', 'gate-scans', null)`,
    );
    await Promise.all([upkeepOf(openNotes()).runOnce(), upkeepOf(openNotes()).runOnce()]);
    await upkeepOf(notes).runOnce();
    const told = (await alerts()).filter(({ about }) => about);
    expect(
      told.map(({ about, text }) => [about, text.includes(job) || text.includes(message) || text.includes('event 7')]).sort(),
    ).toEqual([
      ['failed job refund_match', true],
      ['parked event gates', true],
      ['parked message payments', true],
    ]);
  });

  test('cause a second alert when they fail again after a retry', async () => {
    await database.query(`insert into outbox (id, destination, event, body, parked_at) values ($1, 'email', 'x', '{}', now())`, [
      newId(),
    ]);
    await upkeepOf(notes).runOnce();
    await completeAlertJobs();
    await letSecondsPass(31);
    await upkeepOf(notes).runOnce();
    expect(await texts()).toHaveLength(1);
    await database.query(`update outbox set parked_at = parked_at + interval '1 s' where event = 'x'`);
    await upkeepOf(notes).runOnce();
    expect(await texts()).toHaveLength(2);
  });

  test('cause an alert even if the search for other failures throws, and so do stored notes that are due', async () => {
    await notes.add([note(1)]);
    const failing = (): Promise<never> => Promise.reject(new Error('no Redis'));
    const found = () => Promise.resolve([{ about: 'parked', text: 'row 1', subject: 'outbox:1:1' }]);
    await expect(new AlertUpkeep(notes, ['webhook'], [failing, found]).runOnce()).rejects.toThrow('no Redis');
    expect((await texts()).sort()).toEqual(['webhook: job 1', 'webhook: row 1']);
  });
});

test('a failure that must not be reported through the only configured channel counts as reported and is not found a second time', async () => {
  const finder = async () => {
    const unknown = await notes.unknown(['email:9:1']);
    return [...unknown].map((subject) => ({
      about: 'dead letter email ops_alert',
      text: 'x',
      subject,
      excludedChannel: 'mail' as const,
    }));
  };
  const upkeep = new AlertUpkeep(notes, ['mail'], [finder]);
  expect([await upkeep.runOnce(), await upkeep.runOnce(), await texts()]).toEqual([1, 0, []]);
});
