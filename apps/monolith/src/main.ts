import 'reflect-metadata';
import { loadConfigOrExit } from '#platform/config/load-config';
import { runService } from '#platform/http/run-service';
import { warnAboutServerDefaults } from '#platform/postgres/server-defaults';
import { monolithConfig } from './config.ts';
import { createMonolith } from './monolith.ts';
import { openResources } from './resources.ts';

const config = loadConfigOrExit(monolithConfig, process.env);
const resources = await openResources(config, 'monolith').catch((error: unknown) => {
  process.stderr.write(
    `monolith cannot start: PostgreSQL does not answer (${error instanceof Error ? error.message : String(error)})\n`,
  );
  process.exit(69);
});
await warnAboutServerDefaults(resources.dataSource, resources.logger);
const app = await createMonolith(resources, { backgroundWork: true, warmUp: config.WARM_UP });
await runService(app, { name: 'monolith', host: config.BIND_HOST, port: config.MONOLITH_PORT, logger: resources.logger });
