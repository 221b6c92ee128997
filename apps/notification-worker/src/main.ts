import '#platform/short-lived-objects';
import 'reflect-metadata';
import { loadConfigOrExit } from '#platform/config/load-config';
import { runService } from '#platform/http/run-service';
import { createLogger } from '#platform/logging/logger';
import { workerConfig } from './config.ts';
import { createNotificationWorker } from './notification-worker.ts';

const config = loadConfigOrExit(workerConfig, process.env);
const logger = createLogger({ service: 'notification-worker', level: config.LOG_LEVEL });
const { app, start } = await createNotificationWorker(config, logger).catch((error: unknown) => {
  process.stderr.write(`notification-worker cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(69);
});
await runService(app, { name: 'notification-worker', host: config.BIND_HOST, port: config.WORKER_PORT, logger });
// Jobs are taken only after the process listens on its port, so that a process that cannot listen takes none.
start();
