// The started system: PostgreSQL, Redis and the three services as processes of their own, with the settings of `npm start`.
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { Client } from 'pg';
import { importCompiled } from '../instruments/compiled.ts';
import { processMicros, readCpu } from '../instruments/cpu.ts';
import type { OwnServers } from '../instruments/own-servers.ts';
import { startMonolith, startQueueService, startWorker, type RunningService } from '../instruments/service.ts';
import { SETTINGS, type ServerUrls } from '../purchase/settings.ts';
import type { PartTimes } from './parts.ts';

/** `running`: as `npm start`. `paused`: the worker runs, but its queues of mails and pushes are paused. `absent`: no worker. */
export const workerModes = ['absent', 'paused', 'running'] as const;
/** What the notification worker does during a run. */
export type WorkerMode = (typeof workerModes)[number];

/** The running services of one run. */
export class StartedSystem {
  readonly monolith: RunningService;
  readonly #queueService: RunningService;
  readonly #servers: OwnServers;
  readonly #addresses: ServerUrls;
  #worker: RunningService | undefined;

  private constructor(servers: OwnServers, addresses: ServerUrls, services: readonly [RunningService, RunningService]) {
    this.#servers = servers;
    this.#addresses = addresses;
    [this.monolith, this.#queueService] = services;
  }

  /** Starts the services on an empty Redis and this database. */
  static async start(servers: OwnServers, databaseUrl: string, mode: WorkerMode): Promise<StartedSystem> {
    const addresses = { databaseUrl, redisUrl: servers.redisUrl };
    const redis = new Redis(servers.redisUrl);
    await redis.flushall();
    await redis.quit();
    const environment = environmentFor(addresses);
    const queueService = await startQueueService(environment, { probe: false });
    try {
      const monolith = await startMonolith({ ...environment, QUEUE_INTERNAL_URL: queueService.url });
      const system = new StartedSystem(servers, addresses, [monolith, queueService]);
      if (mode !== 'absent') await system.startWorker();
      if (mode === 'paused') await system.setPaused(true);
      return system;
    } catch (error) {
      await queueService.stop();
      throw error;
    }
  }

  async startWorker(settings: Record<string, string> = {}, execArgv: readonly string[] = []): Promise<void> {
    this.#worker = await startWorker({ ...environmentFor(this.#addresses), ...settings }, execArgv);
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
    const { postgres, redis } = this.#servers.pids;
    return {
      monolith: processMicros(this.monolith.pid),
      'queue service': processMicros(this.#queueService.pid),
      worker: this.#worker ? processMicros(this.#worker.pid) : 0,
      PostgreSQL: readCpu({ service: [], postgres, redis, load: [] }).database,
      'of it for the worker': processMicros(...rows.map(({ pid }) => pid)),
      Redis: processMicros(redis),
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
