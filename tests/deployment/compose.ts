import { parse } from 'yaml';

interface Service {
  image: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  restart?: string;
  read_only?: boolean;
  cap_drop?: string[];
  volumes?: string[];
  stop_grace_period?: string;
  profiles?: string[];
}
/** The parts of docker-compose.yml that the tests read. */
export interface ComposeFile {
  services: Record<string, Service>;
  volumes?: Record<string, unknown>;
}

export const parseCompose = (text: string): ComposeFile => parse(text, { merge: true }) as ComposeFile;

/** Facts of the project that docker-compose.yml is compared with. */
export interface ProjectFacts {
  settings: ReadonlySet<string>;
  /** The app of each long-running service with a port. */
  apps: Readonly<Record<string, string>>;
  /** The port of each app. */
  ports: Readonly<Record<string, number>>;
  /** Environment variables that are no settings of the project. */
  runtimeVariables: ReadonlySet<string>;
  /** Names of long-running services without a port, because they receive no requests. */
  portless: ReadonlySet<string>;
  drainSeconds: number;
  exists: (file: string) => boolean;
}

/** A service of which several run: a port of the machine can be published by one of them only. */
const UNPUBLISHED = new Set(['push-worker']);
/** A service that ends by itself without an error, so that it must be started again then too. */
const ENDS_BY_ITSELF = new Set(['job-worker']);

function ownServiceViolations(name: string, service: Service, facts: ProjectFacts): string[] {
  const [node, flag, entry = ''] = service.command ?? [];
  const source = entry.replace(/^dist\//, '').replace(/\.js$/, '.ts');
  const app = facts.apps[name];
  const port = facts.ports[app ?? ''];
  const isPortless = facts.portless.has(name);
  const isOneShot = port === undefined && !isPortless;
  const rules: [boolean, string][] = [
    [service.image === 'tribina:local' && service.build === '.', 'does not run our own image'],
    [node === 'node' && flag === '--enable-source-maps' && facts.exists(source), `runs ${entry}, and there is no ${source}`],
    [
      port === undefined ? source === 'apps/monolith/src/cli.ts' : source === `apps/${app}/src/main.ts`,
      `runs ${entry}, which is not its own`,
    ],
    [
      service.restart === (isOneShot ? 'no' : ENDS_BY_ITSELF.has(name) ? 'unless-stopped' : 'on-failure'),
      `restart is ${service.restart}`,
    ],
    [service.read_only === true && String(service.cap_drop) === 'ALL', 'is not locked down'],
    [
      isOneShot || Number.parseInt(service.stop_grace_period ?? '10s', 10) > facts.drainSeconds,
      'is killed before its drain is over',
    ],
    [
      service.environment?.NODE_ENV === 'development',
      'runs in the production mode of the image, which refuses the development secrets',
    ],
    [
      port === undefined || UNPUBLISHED.has(name)
        ? !service.ports?.length
        : String(service.ports) === `127.0.0.1:${port}:${port}`,
      `publishes ${String(service.ports)}, not its port on 127.0.0.1 only`,
    ],
    [
      port === undefined || String(service.healthcheck?.test).includes(`http://127.0.0.1:${port}/health/ready'`),
      'has no health check of its own /health/ready',
    ],
  ];
  const unknown = Object.keys(service.environment ?? {}).filter(
    (variable) => !facts.settings.has(variable) && !facts.runtimeVariables.has(variable),
  );
  return [
    ...rules.filter(([holds]) => !holds).map(([, complaint]) => `${name}: ${complaint}`),
    ...unknown.map((variable) => `${name}: ${variable} is not a setting`),
  ];
}

function dependencyViolations(name: string, service: Service, services: ComposeFile['services']): string[] {
  return Object.entries(service.depends_on ?? {}).flatMap(([dependency, { condition }]) => {
    const target = services[dependency];
    if (!target) return [`${name}: waits for ${dependency}, which is no service`];
    if (condition === 'service_healthy')
      return target.healthcheck ? [] : [`${name}: waits until ${dependency} is healthy, and nothing checks that`];
    if (condition === 'service_completed_successfully')
      return target.restart === 'no' ? [] : [`${name}: waits until ${dependency} ends, and it does not end`];
    return [`${name}: waits for ${dependency} with the condition ${condition}`];
  });
}

function dataStoreViolations({ services }: ComposeFile): string[] {
  const postgres = services.postgres?.command?.join(' ') ?? '';
  const redis = services.redis?.command?.join(' ') ?? '';
  const rules: [boolean, string][] = [
    [services.postgres?.image === 'postgres:18', 'postgres: is not postgres:18'],
    [
      postgres.includes('-c max_pred_locks_per_page=200') && postgres.includes('-c max_pred_locks_per_relation=20000'),
      'postgres: predicate locks are at their defaults',
    ],
    // Since version 18 the postgres image keeps its data below this folder. With a volume at …/data the server would not start.
    [String(services.postgres?.volumes) === 'postgres-data:/var/lib/postgresql', 'postgres: its data is not in the volume'],
    [services.redis?.image === 'redis:7', 'redis: is not redis:7'],
    [
      redis.includes('--appendonly yes') && redis.includes('--maxmemory-policy noeviction'),
      'redis: may lose data (needs appendonly and noeviction)',
    ],
    [String(services.redis?.volumes) === 'redis-data:/data', 'redis: its data is not in the volume'],
  ];
  return rules.filter(([holds]) => !holds).map(([, complaint]) => complaint);
}

/** Faults that would stop `docker compose up` from starting a working system in development mode. */
export function composeViolations(compose: ComposeFile, facts: ProjectFacts): string[] {
  const { services, volumes = {} } = compose;
  const own = Object.entries(services).filter(([name]) => name !== 'postgres' && name !== 'redis');
  const mounted = Object.values(services).flatMap((service) =>
    (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? ''),
  );
  const used = mounted.filter((volume) => !volume.startsWith('./'));
  const absent = mounted.filter((volume) => volume.startsWith('./') && !facts.exists(volume));
  const missing = [...Object.keys(facts.apps), ...facts.portless].filter((name) => !services[name]);
  return [
    ...missing.map((name) => `${name}: is missing`),
    ...own.flatMap(([name, service]) => ownServiceViolations(name, service, facts)),
    ...Object.entries(services).flatMap(([name, service]) => dependencyViolations(name, service, services)),
    ...dataStoreViolations(compose),
    ...absent.map((folder) => `${folder}: is mounted and does not exist`),
    ...used.filter((volume) => !(volume in volumes)).map((volume) => `${volume}: is used and not declared`),
    ...Object.keys(volumes)
      .filter((volume) => !used.includes(volume))
      .map((volume) => `${volume}: is declared and not used`),
  ];
}
