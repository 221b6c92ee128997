import { createLogger } from '../../logging/logger.ts';
import { openDatabase } from '../../postgres/database.ts';
import { PostgresTransactionManager } from '../../postgres/transaction-manager.ts';
import { JobLedger } from '../job-ledger.ts';
import { JobRunner } from '../job-runner.ts';
import { postgresTransport, redisTransport } from '../job-transport.ts';
import { effectKind, WriteEffect } from './effect-job.ts';

/*
 * A consumer in a process of its own that is killed (SIGKILL, nothing is tidied up) in the middle of a job: before the commit
 * of the effect, or after it and before the transport hears that the job is done.
 *
 *   node doomed-consumer.ts <redis|postgres> <url of the transport> <url of the database> <before|after> <ms of the lock>
 */
const [transportName, transportUrl = '', databaseUrl = '', moment, lockMs] = process.argv.slice(2);

const die = (): void => void process.kill(process.pid, 'SIGKILL');
const database = await openDatabase({ url: databaseUrl, name: 'doomed', poolSize: 4 });
const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000, afterCommit: () => undefined });
const transport = transportName === 'redis' ? redisTransport(transportUrl) : await postgresTransport(transportUrl);
const handler = new WriteEffect(() => (moment === 'before' ? die() : undefined));
new JobRunner({
  transport,
  ledger: new JobLedger(database),
  transactions,
  kinds: [effectKind(handler)],
  logger: createLogger({ service: 'doomed', level: 'silent' }),
  concurrency: 1,
  lockMs: Number(lockMs),
  afterEach: die,
}).start();
