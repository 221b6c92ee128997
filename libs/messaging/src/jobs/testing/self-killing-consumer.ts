import { createLogger } from '#platform/logging/logger';
import { openDatabase } from '#platform/postgres/database';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { JobLedger } from '../job-ledger.ts';
import { JobRunner } from '../job-runner.ts';
import { postgresTransport, redisTransport } from '../job-transport.ts';
import { effectKind, WriteEffect } from './effect-job.ts';

/*
 * A consumer in a process of its own that kills itself (SIGKILL, so without any cleanup) while it handles a job: before the
 * commit of the effect, or after the commit and before the transport knows that the job is done.
 *
 *   node self-killing-consumer.ts <redis|postgres> <url of the transport> <url of the database> <before|after> <ms of the lock>
 */
const [transportName, transportUrl = '', databaseUrl = '', moment, lockMs] = process.argv.slice(2);

const killSelf = (): void => void process.kill(process.pid, 'SIGKILL');
const database = await openDatabase({ url: databaseUrl, name: 'self-killing', poolSize: 4 });
const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000, afterCommit: () => undefined });
const transport = transportName === 'redis' ? redisTransport(transportUrl) : await postgresTransport(transportUrl);
const handler = new WriteEffect(() => (moment === 'before' ? killSelf() : undefined));
new JobRunner({
  transport,
  ledger: new JobLedger(database),
  transactions,
  kinds: [effectKind(handler)],
  logger: createLogger({ service: 'self-killing', level: 'silent' }),
  concurrency: 1,
  lockMs: Number(lockMs),
  afterEach: killSelf,
}).start();
