// Reads the settings of a service from the environment as its main.ts does, then ends. Argument: the service.
import { loadConfigOrExit } from '#platform/config/load-config';
import { monolithConfig } from '../../apps/monolith/src/config.ts';
import { workerConfig } from '../../apps/notification-worker/src/config.ts';
import { queueServiceConfig } from '../../apps/queue-service/src/config.ts';

const schemas = { monolith: monolithConfig, 'queue-service': queueServiceConfig, 'notification-worker': workerConfig };

loadConfigOrExit(schemas[process.argv[2] as keyof typeof schemas], process.env);
