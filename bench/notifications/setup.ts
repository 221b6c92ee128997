import { JOBS_PREFIX, type JobQueue } from '#contracts/queue-jobs';
import { createLogger } from '#platform/logging/logger';
import { openDatabase } from '#platform/postgres/database';
import { migrate } from '#platform/postgres/migrate';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { DataSource } from 'typeorm';
import { MailProvider } from '../../apps/notification-worker/src/email/application/ports.ts';
import { PushProvider, type DeviceResult, type OutgoingPush } from '../../apps/notification-worker/src/push/application/ports.ts';
import { UnlimitedProvider } from '#messaging/sending/provider-limiter';
import { bareWorker, type BareOptions, type BareWorker } from '../../apps/notification-worker/src/testing/bare-worker.ts';
import { startOwnServers } from '../instruments/own-servers.ts';

/** The environment of this benchmark: its own PostgreSQL with the schema, its own Redis, queues and workers. */
export interface BenchSetup {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly database: DataSource;
  readonly connection: Redis;
  queue(name: JobQueue | 'bare'): Queue;
  worker(options: Partial<BareOptions>): Promise<BareWorker>;
  /** Deletes all messages, jobs and broadcasts. */
  clean(): Promise<void>;
  stop(): Promise<void>;
}

/** A logger that writes nothing. */
export const logger = createLogger({ service: 'bench', level: 'silent' });

/** Starts the servers and opens the queues that all measurements share. */
export async function openSetup(): Promise<BenchSetup> {
  const servers = await startOwnServers();
  const database = await openDatabase({ url: servers.databaseUrl, name: 'bench' });
  await migrate(servers.databaseUrl);
  const connection = new Redis(servers.redisUrl, { maxRetriesPerRequest: null });
  const queues = new Map<string, Queue>();
  const queue = (name: string): Queue => {
    const opened = queues.get(name) ?? new Queue(name, { connection, prefix: JOBS_PREFIX });
    queues.set(name, opened);
    return opened;
  };
  return {
    databaseUrl: servers.databaseUrl,
    redisUrl: servers.redisUrl,
    database,
    connection,
    queue,
    worker: (options) =>
      bareWorker({
        databaseUrl: servers.databaseUrl,
        redisUrl: servers.redisUrl,
        limiter: () => new UnlimitedProvider(),
        ...options,
      }),
    clean: async () => {
      await connection.flushdb();
      await database.query('truncate outbox, queued_jobs, inbox, push_progress, broadcasts, broadcast_devices');
    },
    stop: async () => {
      await Promise.all([...queues.values()].map((open) => open.close()));
      await connection.quit();
      await database.destroy();
      await servers.stop();
    },
  };
}

/** A mail provider that only counts, so that the benchmark measures our code. */
export class NoOpMails extends MailProvider {
  readonly times: number[] = [];
  private target = 0;
  private onTarget: () => void = () => undefined;
  send(): Promise<void> {
    this.times.push(performance.now());
    if (this.times.length === this.target) this.onTarget();
    return Promise.resolve();
  }
  /** Resolves when this many mails were sent. */
  waitForMails(count: number): Promise<void> {
    this.target = count;
    return new Promise((resolve) => (this.onTarget = resolve));
  }
}

/** A push provider that only counts. */
export class NoOpPushes extends PushProvider {
  devices = 0;
  /** Time of each urgent push by message id. */
  readonly urgentSentAt = new Map<string, number>();
  private target = Infinity;
  private onTarget: () => void = () => undefined;
  constructor(private readonly latencyMs = 0) {
    super();
  }
  async send({ messageId, tokens, urgent }: OutgoingPush): Promise<readonly DeviceResult[]> {
    if (urgent) this.urgentSentAt.set(messageId, performance.now());
    else this.devices += tokens.length;
    if (this.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.latencyMs));
    if (this.devices >= this.target) this.onTarget();
    return tokens.map(() => ({ kind: 'sent' }) as const);
  }
  /** Resolves when this many devices were reached. */
  waitForDevices(devices: number): Promise<void> {
    this.target = devices;
    return new Promise((resolve) => (this.onTarget = resolve));
  }
}
