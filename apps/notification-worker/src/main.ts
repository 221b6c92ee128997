import { loadConfigOrExit } from '#platform/config/load-config';
import { createLogger } from '#platform/logging/logger';
import { runService } from '#platform/http/run-service';
import { createWorker } from './create-worker.ts';
import { workerConfig } from './config.ts';

const config = loadConfigOrExit(workerConfig, process.env);
const logger = createLogger({ service: 'notification-worker', level: config.LOG_LEVEL });
const { app, start } = await createWorker(config, logger);
await runService(app, { name: 'notification-worker', host: config.BIND_HOST, port: config.WORKER_PORT, logger });
// Only now: a process that cannot have its port has taken no job into its hands.
start();
