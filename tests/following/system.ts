import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { loadConfig } from '#platform/config/load-config';
import { createLogger, type Logger } from '#platform/logging/logger';
import { createTestDatabase, createTestRedis } from '#testing/test-database';
import { monolithConfig } from '../../apps/monolith/src/config.ts';
import { createMonolith } from '../../apps/monolith/src/monolith.ts';
import { openResources } from '../../apps/monolith/src/resources.ts';
import { workerConfig } from '../../apps/notification-worker/src/config.ts';
import { createNotificationWorker } from '../../apps/notification-worker/src/notification-worker.ts';
import { queueServiceConfig } from '../../apps/queue-service/src/config.ts';
import { createQueueService } from '../../apps/queue-service/src/queue-service.ts';

/** All three services as deployed, connected to each other, in this process. Their log lines are collected. */
export interface LoggedSystem {
  readonly url: string;
  readonly queueUrl: string;
  readonly ownerUrl: string;
  readonly redisUrl: string;
  rows<T>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /** The lines that contain `text`, of all services, as `grep` finds them. */
  grep(text: string): Record<string, unknown>[];
  close(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Starts the system on its own database and Redis. */
export async function openLoggedSystem(): Promise<LoggedSystem> {
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const [port, queuePort] = [await freePort(), await freePort()];
  let text = '';
  const loggerOf = (service: string): Logger =>
    createLogger({ service, level: 'info', destination: { write: (line) => void (text += line) } });
  const env = {
    DATABASE_URL: database.servicesUrl,
    REDIS_URL: redis.url,
    MONOLITH_PORT: String(port),
    QUEUE_PORT: String(queuePort),
    RATE_LIMIT_USER_PER_MINUTE: '0',
    RATE_LIMIT_WRITES_PER_MINUTE: '0',
    RATE_LIMIT_IP_PER_MINUTE: '0',
  };
  const host = '127.0.0.1';
  const queue = await createQueueService(loadConfig(queueServiceConfig, env), loggerOf('queue-service'));
  await queue.listen({ host, port: queuePort });
  const resources = await openResources(loadConfig(monolithConfig, { ...env, LOG_LEVEL: 'silent' }), 'monolith', 4);
  const monolith = await createMonolith({ ...resources, logger: loggerOf('monolith') });
  await monolith.listen({ host, port });
  const worker = await createNotificationWorker(loadConfig(workerConfig, env), loggerOf('notification-worker'));
  await worker.app.getHttpAdapter().getInstance().ready();
  worker.start();
  const apps: readonly NestFastifyApplication[] = [worker.app, monolith, queue];
  return {
    url: `http://${host}:${port}/api/v1`,
    queueUrl: `http://${host}:${queuePort}/api/v1`,
    ownerUrl: database.url,
    redisUrl: redis.url,
    rows: (sql, parameters = []) => resources.dataSource.query(sql, [...parameters]),
    grep: (wanted) =>
      text.split('\n').flatMap((line) => (line.includes(wanted) ? [JSON.parse(line) as Record<string, unknown>] : [])),
    async close() {
      for (const app of apps) await app.close();
      await redis.close();
      await database.close();
    },
  };
}
