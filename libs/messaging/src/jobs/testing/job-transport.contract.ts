import { createLogger } from '#platform/logging/logger';
import { PostgresOutbox } from '../../outbox/postgres-outbox.ts';
import { OutboxRelay } from '../../outbox/outbox-relay.ts';
import { openDatabase } from '#platform/postgres/database';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { newId } from '#platform/ids';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import { Writable } from 'node:stream';
import type { DataSource } from 'typeorm';
import { HeldBack } from '../job-outcomes.ts';
import { JobLedger, PostgresJobs, type JobRow } from '../job-ledger.ts';
import { JobRunner, type RunnerOptions } from '../job-runner.ts';
import type { JobState } from '#contracts/jobs';
import type { JobTransport } from '../job-transport.ts';
import { JobUpkeep } from '../job-upkeep.ts';
import { JobsDestination } from '../jobs-destination.ts';
import { effect, effectKind, WriteEffect } from './effect-job.ts';
import { runKilledConsumer } from './killed-consumer.ts';
import { openLatch } from './latch.ts';

interface TransportUnderTest {
  /** Opens a transport on a server that no other test uses. `url` is for a consumer in another process. */
  open(databaseUrl: string): Promise<{ transport: JobTransport; url: string }>;
  /** Breaks all connections to the server; new connections work. */
  interrupt(): Promise<void>;
  /** The delay of a job that waits for its next attempt; the attempt then starts at once instead. Undefined in another state. */
  skipDelay(jobId: string): Promise<number | undefined>;
  /** Deletes all data of the transport. */
  wipe(): Promise<void>;
  close(): Promise<void>;
}

const silent = createLogger({ service: 'test', level: 'silent' });
const LOCK_MS = 1000;

/** Tests that every job transport must pass; run against BullMQ in Redis and in PostgreSQL. */
export function describeJobTransport(name: string, underTest: () => TransportUnderTest): void {
  describe(`${name} as job transport`, () => {
    let testDatabase: TestDatabase;
    let database: DataSource;
    let transactions: PostgresTransactionManager;
    let ledger: JobLedger;
    let transport: JobTransport;
    let transportUrl: string;
    let relay: OutboxRelay;
    let running: JobRunner[];

    beforeAll(async () => {
      testDatabase = await createTestDatabase();
      database = await openDatabase({ url: testDatabase.url, name: 'jobs-test', poolSize: 8 });
      await database.query('create table effects (name text not null)');
      transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
      ledger = new JobLedger(database);
      ({ transport, url: transportUrl } = await underTest().open(testDatabase.url));
      relay = new OutboxRelay(
        database,
        new JobsDestination(transport, { retry: () => Promise.resolve(), drop: () => Promise.resolve() }),
        silent,
      );
    });

    beforeEach(async () => {
      running = [];
      await database.query('truncate jobs, outbox, effects');
    });

    afterEach(async () => {
      await Promise.all(running.map((runner) => runner.stop(0)));
      await underTest().wipe();
    });

    afterAll(async () => {
      await transport.close();
      await database.destroy();
      await underTest().close();
      await testDatabase.close();
    });

    const jobs = new PostgresJobs(new PostgresOutbox(), { next: newId });

    async function put(...names: string[]): Promise<string[]> {
      await transactions.run((tx) => jobs.put(tx, names.map(effect)));
      const rows = await ledger.list({ state: 'open', limit: names.length });
      return rows.reverse().map(({ id }) => id);
    }

    function consume(handler: WriteEffect, options: Partial<RunnerOptions> = {}): JobRunner {
      const kinds = [effectKind(handler)];
      const runner = new JobRunner({ transport, ledger, transactions, kinds, logger: silent, concurrency: 2, ...options });
      runner.start();
      running.push(runner);
      return runner;
    }

    async function effects(): Promise<string[]> {
      const rows = await database.query<{ name: string }[]>('select name from effects order by name');
      return rows.map((row) => row.name);
    }

    const row = async (id: string): Promise<JobRow | undefined> => ledger.find(id);
    const isDone = async (id: string): Promise<boolean> => ((await row(id))?.doneAt ?? null) !== null;
    const hasFailed = async (id: string): Promise<boolean> => ((await row(id))?.failedAt ?? null) !== null;
    const inState = (id: string, state: JobState) => until(async () => (await transport.states([id])).get(id) === state);
    const relayed = async (): Promise<void> => {
      while ((await relay.runOnce()) > 0);
    };

    test('a job that a committed transaction has put is done, and a job of a rolled back transaction does not exist', async () => {
      const lost = transactions.run(async (tx) => {
        await jobs.put(tx, [effect('lost')]);
        throw new Error('no');
      });
      await expect(lost).rejects.toThrow('no');
      const [id = ''] = await put('kept');
      await relayed();
      consume(new WriteEffect());
      await until(() => isDone(id));
      expect(await effects()).toEqual(['kept']);
      await inState(id, 'completed');
    });

    test('a job that is added three times, the second time while it waits and the third time after it is done, has its effect once', async () => {
      const [id = ''] = await put('once');
      await relayed();
      await transport.add([{ id, class: 'effect' }]);
      expect((await transport.counts()).waiting).toBe(1);
      consume(new WriteEffect());
      await inState(id, 'completed');
      await transport.remove([id]);
      await transport.add([{ id, class: 'effect' }]);
      await inState(id, 'completed');
      expect(await effects()).toEqual(['once']);
    });

    test('negative control: if the job ledger does not remember that a job was done, a job that is added twice has its effect twice', async () => {
      const forgetful = new JobLedger(database);
      forgetful.finish = () => Promise.resolve(true);
      consume(new WriteEffect(), { ledger: forgetful });
      const [id = ''] = await put('once');
      await relayed();
      await inState(id, 'completed');
      await transport.remove([id]);
      await transport.add([{ id, class: 'effect' }]);
      await inState(id, 'completed');
      expect(await effects()).toEqual(['once', 'once']);
    });

    test('two consumers together do each of a hundred jobs once', async () => {
      const names = Array.from({ length: 100 }, (_, index) => String(index).padStart(3, '0'));
      await put(...names);
      await relayed();
      consume(new WriteEffect());
      consume(new WriteEffect());
      await until(async () => (await ledger.counts()).open === 0, 30_000);
      expect(await effects()).toEqual(names);
    }, 60_000);

    test('a failing job is retried after each delay, then marked as failed with its class, its transport and all errors', async () => {
      const starts: number[] = [];
      const handler = new WriteEffect(() => {
        starts.push(Date.now());
        throw new Error(`attempt ${starts.length} failed`);
      });
      const failed: string[] = [];
      consume(handler, { retrySeconds: [1, 0.5, 0], onFailed: (job) => failed.push(`${job.class}: ${job.error.message}`) });
      const [id = ''] = await put('never');
      await relayed();
      await inState(id, 'delayed');
      await until(() => hasFailed(id), 15_000);
      const found = await row(id);
      expect(found?.attempts.map(({ error }) => error)).toEqual([1, 2, 3, 4].map((attempt) => `attempt ${attempt} failed`));
      expect([found?.class, found?.transport, await effects(), failed]).toEqual([
        'effect',
        transport.name,
        [],
        ['effect: attempt 4 failed'],
      ]);
      expect(found?.attempts.every(({ at, stack }) => at !== null && stack.length > 20 && stack.length <= 2000)).toBe(true);
      const [first = 0, second = 0, third = 0] = starts;
      expect(second - first).toBeGreaterThanOrEqual(950);
      expect(third - second).toBeGreaterThanOrEqual(450);
      await inState(id, 'failed');
    }, 30_000);

    test('a failing job is retried after 1, 5 and 30 seconds, then logged once with TRIBINA-INFRA-9100', async () => {
      const lines: string[] = [];
      const destination = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) });
      const logger = createLogger({ service: 'test', level: 'error', destination });
      const handler = new WriteEffect(() => {
        throw new Error('broken');
      });
      consume(handler, { logger });
      const [id = ''] = await put('never');
      await relayed();
      const delays: number[] = [];
      while (delays.length < 3)
        await until(async () => {
          const delay = await underTest().skipDelay(id);
          return delay !== undefined && delays.push(delay) > 0;
        });
      await until(() => hasFailed(id));
      expect(delays).toEqual([1000, 5000, 30_000]);
      const coded = () =>
        lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ code }) => code !== undefined);
      await until(() => Promise.resolve(coded().length > 0));
      expect(coded()).toMatchObject([
        { code: 'TRIBINA-INFRA-9100', job_id: id, class: 'effect', transport: transport.name, attempts: 4 },
      ]);
    }, 30_000);

    test('when an operator retries a job that has failed for good, the job runs again and its old attempts do not count', async () => {
      let broken = true;
      consume(
        new WriteEffect(() => {
          if (broken) throw new Error('broken');
        }),
        { retrySeconds: [] },
      );
      const [id = ''] = await put('later');
      await relayed();
      await until(() => hasFailed(id));
      await inState(id, 'failed');
      broken = false;
      const upkeep = new JobUpkeep(ledger, transport, silent, 0);
      expect(await upkeep.runOnce()).toBe(0);
      await transactions.run(async (tx) => {
        expect(await ledger.revive(tx, [id])).toHaveLength(1);
        const body = { job_id: id, class: 'effect', again: true };
        await new PostgresOutbox().append(tx, [{ id: newId(), destination: 'jobs', event: 'job.retry', body }]);
      });
      // The transport still has the job as failed, from before the retry. JobUpkeep must ignore this state.
      expect([await upkeep.runOnce(), await hasFailed(id)]).toEqual([0, false]);
      await relayed();
      await until(() => isDone(id));
      expect([await effects(), (await row(id))?.attempts.length]).toEqual([['later'], 1]);
    });

    test('a job that is held back because its provider is down runs again and loses no attempt', async () => {
      let calls = 0;
      const handler = new WriteEffect(undefined, () => {
        calls += 1;
        if (calls <= 6) throw new HeldBack('job', 20, 'the provider is down');
      });
      consume(handler, { retrySeconds: [0] });
      const [id = ''] = await put('patient');
      await put('other');
      await relayed();
      await until(() => isDone(id));
      await until(async () => (await effects()).length === 2);
      expect([calls, (await row(id))?.attempts]).toEqual([8, []]);
    });

    test('a job of an unknown class is marked as failed at once', async () => {
      consume(new WriteEffect());
      const [id = ''] = await put('x');
      await database.query(`update jobs set class = 'unheard_of' where id = $1`, [id]);
      await relayed();
      await until(() => hasFailed(id));
      expect((await row(id))?.attempts.map(({ error }) => error)).toEqual(['no handler for jobs of class unheard_of']);
    });

    test('a consumer that is stopped finishes its current job and takes no further job', async () => {
      const latch = openLatch();
      const runner = consume(new WriteEffect(undefined, () => latch.released), { concurrency: 1 });
      const [held = ''] = await put('held');
      await relayed();
      await inState(held, 'active');
      const [waiting = ''] = (await put('waiting')).slice(-1);
      await relayed();
      const stopped = runner.stop(10_000);
      latch.release();
      await stopped;
      expect([await isDone(held), await isDone(waiting)]).toEqual([true, false]);
    });

    test.each(['before', 'after'])(
      'when a consumer is killed %s the commit of the effect, another consumer finishes the job and the effect exists once',
      async (moment) => {
        const [id = ''] = await put('survives');
        await relayed();
        expect(await runKilledConsumer(transport.name, transportUrl, testDatabase.url, moment, String(LOCK_MS))).toBe('SIGKILL');
        expect(await effects()).toEqual(moment === 'before' ? [] : ['survives']);
        consume(new WriteEffect(), { lockMs: LOCK_MS });
        await inState(id, 'completed');
        expect([await effects(), await isDone(id)]).toEqual([['survives'], true]);
      },
      60_000,
    );

    test('when all connections to the transport break, the job in progress and a later job are each done once', async () => {
      const latch = openLatch();
      consume(new WriteEffect(undefined, (job) => (job.name === 'in progress' ? latch.released : undefined)), {
        concurrency: 1,
        lockMs: LOCK_MS,
      });
      const [held = ''] = await put('in progress');
      await relayed();
      await inState(held, 'active');
      await underTest().interrupt();
      latch.release();
      await put('later');
      await until(async () => (await relay.runOnce().catch(() => 1)) === 0);
      await until(async () => (await ledger.counts()).open === 0, 30_000);
      await inState(held, 'completed');
      expect(await effects()).toEqual(['in progress', 'later']);
    }, 60_000);

    test('when the transport has lost all data, the jobs that are not done are added again from the table `jobs` and each done once', async () => {
      const [done = ''] = await put('a');
      await put('b', 'c');
      await relayed();
      await transactions.run(async (tx) => void (await ledger.finish(tx, done)));
      await underTest().wipe();
      expect(await new JobUpkeep(ledger, transport, silent, 0).runOnce()).toBe(2);
      expect(await new JobUpkeep(ledger, transport, silent, 0).runOnce()).toBe(0);
      consume(new WriteEffect());
      await until(async () => (await ledger.counts()).open === 0);
      expect(await effects()).toEqual(['b', 'c']);
    });
  });
}

async function until(ask: () => Promise<boolean>, withinMs = 15_000): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  while (!(await ask())) {
    if (Date.now() > giveUpAt) throw new Error(`It did not happen within ${withinMs} ms: ${ask.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
