import { createLogger } from '#platform/logging/logger';
import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { openDatabase } from '#platform/postgres/database';
import { SendClaims } from '#messaging/inbox/send-claims';
import { SingleStatements } from '#platform/postgres/single-statements';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { ProcessedMarks } from '#messaging/inbox/processed-marks';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { UnsentJobs } from '#messaging/jobs/unsent-jobs';
import { Registry } from 'prom-client';
import type { DataSource } from 'typeorm';
import type { MailProvider } from '../email/application/ports.ts';
import { SendMail } from '../email/application/send-mail.ts';
import { EmailProcessor } from '../email/inbound/email.processor.ts';
import { ticketAttachments } from '../email/outbound/ticket-attachments.ts';
import { ProviderMails } from '../email/outbound/provider-mails.ts';
import type { PushProvider } from '../push/application/ports.ts';
import { PushProcessor } from '../push/inbound/push.processor.ts';
import { PostgresBroadcasts } from '../push/outbound/postgres-broadcasts.ts';
import { ProviderPushes } from '../push/outbound/provider-pushes.ts';
import { PushLedger } from '../push/outbound/push-ledger.ts';
import { SendingMetrics } from '#messaging/sending/sending-metrics';
import type { ProviderLimiter } from '#messaging/sending/provider-limiter';
import { QueuedJobs } from '#messaging/jobs/queued-jobs';

/** The servers and limits of a bare worker (see `BareWorker`). */
export interface BareOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly mails?: MailProvider;
  readonly pushes?: PushProvider;
  readonly limiter: (redis: RedisConnection) => ProviderLimiter;
  readonly retrySeconds?: readonly number[];
  readonly lockMs?: number;
  /** If false (a negative control), the ledger of sent mails treats every message as new. */
  readonly ledger?: boolean;
  readonly mailsAtOnce?: number;
  readonly pushesAtOnce?: number;
  /** The number of devices of one group of pushes; the rate limiter may allow fewer. */
  readonly callsAtOnce?: number;
}

/** Negative control: a ledger of sends that remembers nothing, so that every message is sent. */
class NoClaims extends SendClaims {
  override claim(): Promise<{ kind: 'claimed'; token: string; possibleDuplicate: boolean }> {
    return Promise.resolve({ kind: 'claimed', token: '', possibleDuplicate: false });
  }
  override finish(): void {}
  override release(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * A notification worker without Nest and HTTP. It takes mails and pushes from the queues and sends them to the providers, with the
 * same classes as the Nest modules of the real worker.
 */
export interface BareWorker {
  readonly database: DataSource;
  readonly redis: RedisConnection;
  readonly deadLetters: string[];
  readonly registry: Registry;
  readonly jobs: QueuedJobs;
  /** The number of pushes and mails that may have arrived twice. */
  possibleDuplicates(): number;
  start(): void;
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Connects a bare worker. It takes no jobs before `start`. */
export async function bareWorker(options: BareOptions): Promise<BareWorker> {
  const { databaseUrl, redisUrl, lockMs = 20_000, retrySeconds = [30, 300] } = options;
  const database = await openDatabase({ url: databaseUrl, name: 'bare-worker' });
  const redis = connectRedis(redisUrl, { name: 'bare-worker', sharedWrites: 'all' });
  const connection = connectRedis(redisUrl, { name: 'bare-worker-jobs', forJobs: true });
  await whenReady(redis);
  let duplicatesCounted = 0;
  const possibleDuplicates = { inc: (_labels: unknown, count = 1): void => void (duplicatesCounted += count) } as never;
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  const statements = new SingleStatements(databaseUrl, 'bare-worker-ledger', { onRetry: () => undefined });
  const marks = new ProcessedMarks(redis);
  const registry = new Registry();
  const limiter = options.limiter(redis);
  const deadLetters: string[] = [];
  const jobs = new QueuedJobs(database, redis, createLogger({ service: 'bare', level: 'silent' }));
  const common = {
    connection,
    retrySeconds,
    logger: createLogger({ service: 'bare', level: 'silent' }),
    jobs,
    alerts: { raise: ({ about }: { about: string }) => void deadLetters.push(about) },
  };
  const processors: (EmailProcessor | PushProcessor)[] = [];
  if (options.mails) {
    const Claims = options.ledger === false ? NoClaims : SendClaims;
    const mails = new ProviderMails(
      options.mails,
      new Claims(statements, { consumer: 'email', lockMs, marks, possibleDuplicates }),
      limiter,
    );
    const sendMail = new SendMail(
      mails,
      { ticketsUrl: 'http://127.0.0.1/tickets', transfersUrl: 'http://127.0.0.1/transfers' },
      ticketAttachments,
    );
    const metrics = new SendingMetrics(registry, 'email', new UnsentJobs(jobs, ['email']));
    processors.push(new EmailProcessor(sendMail, mails, options.mailsAtOnce ?? 10, { ...common, metrics }));
  }
  if (options.pushes) {
    const ledger = new PushLedger(statements, transactions, new PostgresOutbox(), { lockMs, marks, possibleDuplicates });
    const pushes = new ProviderPushes(options.pushes, ledger, limiter, options.callsAtOnce);
    const metrics = new SendingMetrics(registry, 'push', new UnsentJobs(jobs, ['push', 'push-priority']));
    const broadcasts = new PostgresBroadcasts(database);
    const concurrency = { 'push-priority': options.pushesAtOnce ?? 4, push: options.pushesAtOnce ?? 4 };
    processors.push(new PushProcessor(pushes, broadcasts, concurrency, { ...common, metrics }));
  }
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopped ??= (async () => {
      for (const processor of processors) processor.onModuleDestroy();
      await Promise.all(processors.map((processor) => processor.beforeApplicationShutdown()));
    })());
  return {
    database,
    redis,
    deadLetters,
    jobs,
    registry,
    possibleDuplicates: () => duplicatesCounted,
    start: () => processors.forEach((processor) => processor.start()),
    stop,
    close: async () => {
      await stop();
      await jobs.close();
      connection.disconnect();
      await closeRedis(redis);
      await Promise.all([statements.close(), database.destroy()]);
    },
  };
}
