// The started system: PostgreSQL, Redis and the three services as processes of their own, with the settings of `npm start`.
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { Client } from 'pg';
import { importCompiled } from '../instruments/compiled.ts';
import { processMicros, readCpu } from '../instruments/cpu.ts';
import type { OwnServers } from '../instruments/own-servers.ts';
import { startMonolith, startQueueService, startWorker, type RunningService } from '../instruments/service.ts';
import { SETTINGS, type ServerUrls } from '../purchase/settings.ts';
import type { MailServer } from './mail-server.ts';
import type { PartTimes } from './parts.ts';

/**
 * `running`: as `npm start`, mails go to the mailbox. `smtp`: mails go to an SMTP server. `paused`: the worker runs, but its queues of
 * mails and pushes are paused. `absent`: no worker.
 */
export const workerModes = ['absent', 'paused', 'running', 'smtp'] as const;
/** What the notification worker does during a run. */
export type WorkerMode = (typeof workerModes)[number];

/** The settings of a worker that sends mails to an SMTP server. */
export const smtpSettings = (url: string) => ({ EMAIL_PROVIDER: 'smtp', SMTP_URL: url });

/** What the services of one run use. */
export interface SystemSetup {
  readonly servers: OwnServers;
  /** Needed in the mode `smtp`. */
  readonly mailServer?: MailServer;
  readonly databaseUrl: string;
}

/** The running services of one run. */
export class StartedSystem {
  readonly monolith: RunningService;
  readonly #queueService: RunningService;
  readonly #setup: SystemSetup;
  readonly #addresses: ServerUrls;
  readonly #mode: WorkerMode;
  #worker: RunningService | undefined;

  private constructor(setup: SystemSetup, mode: WorkerMode, services: readonly [RunningService, RunningService]) {
    this.#setup = setup;
    this.#mode = mode;
    this.#addresses = { databaseUrl: setup.databaseUrl, redisUrl: setup.servers.redisUrl };
    [this.monolith, this.#queueService] = services;
  }

  get queueUrl(): string {
    return this.#queueService.url;
  }

  /** Starts the services on an empty Redis and this database. */
  static async start(setup: SystemSetup, mode: WorkerMode): Promise<StartedSystem> {
    const { servers, databaseUrl } = setup;
    const addresses = { databaseUrl, redisUrl: servers.redisUrl };
    const redis = new Redis(servers.redisUrl);
    await redis.flushall();
    await redis.quit();
    const environment = environmentFor(addresses);
    const queueService = await startQueueService(environment, { probe: false });
    try {
      const monolith = await startMonolith({ ...environment, QUEUE_INTERNAL_URL: queueService.url });
      const system = new StartedSystem(setup, mode, [monolith, queueService]);
      if (mode !== 'absent') await system.startWorker();
      if (mode === 'paused') await system.setPaused(true);
      return system;
    } catch (error) {
      await queueService.stop();
      throw error;
    }
  }

  async startWorker(settings: Record<string, string> = {}, execArgv: readonly string[] = []): Promise<void> {
    const { mailServer } = this.#setup;
    const provider = this.#mode === 'smtp' && mailServer ? smtpSettings(mailServer.url) : {};
    this.#worker = await startWorker({ ...environmentFor(this.#addresses), ...provider, ...settings }, execArgv);
  }

  async stopWorker(): Promise<void> {
    await this.#worker?.stop();
    this.#worker = undefined;
  }

  /** Pauses or resumes all queues of the notification worker. */
  async setPaused(isPaused: boolean): Promise<void> {
    const { JOBS_PREFIX, jobQueues } =
      await importCompiled<typeof import('../../libs/contracts/src/queue-jobs.ts')>('libs/contracts/src/queue-jobs');
    const connection = new Redis(this.#addresses.redisUrl, { maxRetriesPerRequest: null });
    const queues = jobQueues.map((name) => new Queue(name, { connection, prefix: JOBS_PREFIX }));
    await Promise.all(queues.map((queue) => (isPaused ? queue.pause() : queue.resume())));
    await Promise.all(queues.map((queue) => queue.close()));
    await connection.quit();
  }

  /** The processor time of each part since its start. `client` is a connection to the database of the run. */
  async readTimes(client: Client, buyers: number | undefined): Promise<PartTimes> {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and application_name like '%notification-worker%'`,
    );
    const { servers, mailServer } = this.#setup;
    const { postgres, redis } = servers.pids;
    return {
      monolith: processMicros(this.monolith.pid),
      'queue service': processMicros(this.#queueService.pid),
      worker: this.#worker ? processMicros(this.#worker.pid) : 0,
      PostgreSQL: readCpu({ service: [], postgres, redis, load: [] }).database,
      'of it for the worker': processMicros(...rows.map(({ pid }) => pid)),
      Redis: processMicros(redis),
      'mail server': mailServer ? processMicros(mailServer.pid) : 0,
      buyers: buyers === undefined ? 0 : processMicros(buyers),
    };
  }

  async stop(): Promise<void> {
    await Promise.allSettled([this.stopWorker(), this.monolith.stop(), this.#queueService.stop()]);
  }
}

const environmentFor = ({ databaseUrl, redisUrl }: ServerUrls): Record<string, string> => ({
  ...SETTINGS,
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
});
