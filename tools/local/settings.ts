import path from 'node:path';
import { ROOT } from './build.ts';
import { isPort } from './free-port.ts';
import { BAD_SETTINGS, UserError } from './trouble.ts';

/** The settings of `npm start`. */
export type Settings = ReturnType<typeof readSettings>;
/** The name and address of one service on this machine. */
export type ServiceSettings = Settings['services'][number];

const SERVICES = [
  { name: 'monolith', portSetting: 'MONOLITH_PORT', defaultPort: 3000 },
  { name: 'queue-service', portSetting: 'QUEUE_PORT', defaultPort: 3001 },
  { name: 'notification-worker', portSetting: 'WORKER_PORT', defaultPort: 3002 },
] as const;

/** Reads only the settings that `npm start` needs. Each service checks all its settings, including these, when it starts. */
export function readSettings(env: NodeJS.ProcessEnv, inspectorPorts: ReadonlyMap<string, number> = new Map()) {
  const host = env.BIND_HOST || '127.0.0.1';
  const services = SERVICES.map(({ name, portSetting, defaultPort }) => {
    const port = readPort(portSetting, env[portSetting], defaultPort);
    return {
      name,
      portSetting,
      port,
      /** The URL of the service on this machine. Its public URL may differ (PUBLIC_URL). */
      url: `http://${reachableHost(host)}:${port}`,
      /** The port of Node's inspector, if a debugger may attach to the service. */
      inspectorPort: inspectorPorts.get(name),
    };
  });
  refuseSharedPorts(services);
  const [monolith, queue, worker] = services.map(({ url }) => url);
  const home = path.resolve(ROOT, env.TRIBINA_HOME || '.tribina');
  const web = env.PUBLIC_URL || monolith!;
  return {
    home,
    /** The address that the services listen on. */
    host,
    services,
    urls: { web, docs: `${web}/docs`, queue: env.QUEUE_PUBLIC_URL || queue!, mailbox: `${worker}/mailbox/` },
    databaseUrl: env.DATABASE_URL || undefined,
    migrationUrl: env.DATABASE_MIGRATION_URL || undefined,
    redisUrl: env.REDIS_URL || undefined,
    /** The environment of the services, without the URLs of the databases, which are not known yet. */
    environment: {
      ...env,
      ...Object.fromEntries(services.map(({ portSetting, port }) => [portSetting, String(port)])),
      TRIBINA_HOME: home,
      BIND_HOST: host,
      QUEUE_INTERNAL_URL: env.QUEUE_INTERNAL_URL || queue,
    },
  };
}

function readPort(name: string, value: string | undefined, defaultPort: number): number {
  if (!value) return defaultPort;
  if (isPort(value)) return Number(value);
  throw new UserError(`${name} is "${value}".`, 'A port is a whole number from 1 to 65535.', BAD_SETTINGS);
}

function refuseSharedPorts(services: readonly { port: number; portSetting: string }[]): void {
  for (const [index, { port, portSetting }] of services.entries()) {
    const other = services.slice(0, index).find((earlier) => earlier.port === port);
    if (other)
      throw new UserError(`${other.portSetting} and ${portSetting} are both ${port}.`, 'Give each its own port.', BAD_SETTINGS);
  }
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
