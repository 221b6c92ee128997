import '#platform/short-lived-objects';
import 'reflect-metadata';
import { loadConfigOrExit } from '#platform/config/load-config';
import { runService } from '#platform/http/run-service';
import { createLogger } from '#platform/logging/logger';
import { queueServiceConfig } from './config.ts';
import { createQueueService } from './queue-service.ts';

const config = loadConfigOrExit(queueServiceConfig, process.env);
const logger = createLogger({ service: 'queue-service', level: config.LOG_LEVEL });
const app = await createQueueService(config, logger);
await runService(app, { name: 'queue-service', host: config.BIND_HOST, port: config.QUEUE_PORT, logger });
