import { JOBS_PREFIX, type JobQueue } from '#contracts/queue-jobs';
import { createLogger } from '#platform/logging/logger';
import { openDatabase } from '#platform/postgres/database';
import { migrate } from '#platform/postgres/migrate';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { DataSource } from 'typeorm';
import { MailProvider } from '../../apps/notification-worker/src/email/application/ports.ts';
import { PushProvider, type DeviceResult, type OutgoingPush } from '../../apps/notification-worker/src/push/application/ports.ts';
import { UnlimitedProvider } from '#platform/sending/provider-limiter';
import { bareWorker, type BareOptions, type BareWorker } from '../../apps/notification-worker/src/testing/bare-worker.ts';
import { startOwnServers } from '../instruments/own-servers.ts';

/** PostgreSQL and Redis of this benchmark's own, with the schema, and what is measured on them. */
export interface Ground {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly database: DataSource;
  readonly connection: Redis;
  queue(name: JobQueue | 'bare'): Queue;
  worker(options: Partial<BareOptions>): Promise<BareWorker>;
  /** As if nothing had ever been sent. */
  clean(): Promise<void>;
  stop(): Promise<void>;
}

export const logger = createLogger({ service: 'bench', level: 'silent' });

export async function openSetup(): Promise<Ground> {
  const servers = await startOwnServers();
  const database = await openDatabase({ url: servers.databaseUrl, name: 'bench' });
  await migrate(servers.databaseUrl);
  const connection = new Redis(servers.redisUrl, { maxRetriesPerRequest: null });
  const queues = new Map<string, Queue>();
  const queue = (name: string): Queue => {
    const known = queues.get(name) ?? new Queue(name, { connection, prefix: JOBS_PREFIX });
    queues.set(name, known);
    return known;
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
        gate: () => new UnlimitedProvider(),
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

/** Takes everything and does nothing, so that what is measured is ours. */
export class NoMails extends MailProvider {
  readonly times: number[] = [];
  private wanted = 0;
  private reached: () => void = () => undefined;
  send(): Promise<void> {
    this.times.push(performance.now());
    if (this.times.length === this.wanted) this.reached();
    return Promise.resolve();
  }
  sent(count: number): Promise<void> {
    this.wanted = count;
    return new Promise((resolve) => (this.reached = resolve));
  }
}

export class NoPushes extends PushProvider {
  devices = 0;
  readonly turns = new Map<string, number>();
  private wanted = Infinity;
  private reached: () => void = () => undefined;
  constructor(private readonly latencyMs = 0) {
    super();
  }
  async send({ messageId, tokens, urgent }: OutgoingPush): Promise<readonly DeviceResult[]> {
    if (urgent) this.turns.set(messageId, performance.now());
    else this.devices += tokens.length;
    if (this.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.latencyMs));
    if (this.devices >= this.wanted) this.reached();
    return tokens.map(() => ({ kind: 'sent' }) as const);
  }
  reaching(devices: number): Promise<void> {
    this.wanted = devices;
    return new Promise((resolve) => (this.reached = resolve));
  }
}
