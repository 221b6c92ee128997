import { readSources } from '#event-loader/adapters/configured-sources';
import { composeViolations, parseCompose } from './compose.ts';
import {
  apps,
  drainSeconds,
  exists,
  portlessServices,
  ports,
  readText,
  runtimeVariables,
  settings,
  settingsFaults,
} from './manifests-and-settings.ts';
import { dockerfileViolations, dockerignoreViolations, runtimeAssets } from './image.ts';

describe('the image', () => {
  const facts = { settings, ports, assets: runtimeAssets(), exists };
  const dockerfile = readText('Dockerfile');

  test('the Dockerfile breaks no rule of dockerfileViolations', () => {
    expect(dockerfileViolations(dockerfile, facts)).toEqual([]);
  });

  test.each([
    ['USER 10001:10001', 'USER node', 'runs as root, or as a name'],
    ['USER 10001:10001\n', '', 'runs as root, or as a name'],
    ['node:24-slim\n', 'node:20-slim\n', 'not built on Node 24'],
    ['ENV NODE_ENV=production\n', '', 'does not run in production mode'],
    ['ENV NODE_ENV=production', 'ENV NODE_ENV=development', 'does not run in production mode'],
    ['WORKDIR /app\nCOPY .npmrc', 'WORKDIR /app\nENV NODE_ENV=production\nCOPY .npmrc', 'builds in it'],
    ['ENV BIND_HOST=0.0.0.0', 'ENV BIND=0.0.0.0', 'BIND is not a setting'],
    ['ENV BIND_HOST=0.0.0.0\n', '', 'listens on 127.0.0.1'],
    [' --ignore-scripts', '', 'install scripts'],
    [' --omit=dev', '', 'development dependencies'],
    [" -o -name '*.sql'", '', 'leaves out x.sql'],
    ['EXPOSE 3000 3001 3002', 'EXPOSE 3000', 'three ports'],
    ['monolith/src/main.js', 'monolith/main.js', 'which nothing builds'],
    ['COPY package.json LICENSE', 'COPY package.json LICENCE', 'copies LICENCE, which does not exist'],
    ['CMD', 'HEALTHCHECK CMD true\nCMD', 'has a HEALTHCHECK'],
  ])('Dockerfile: replacing %j by %j is reported', (good, bad, complaint) => {
    expect(dockerfile).toContain(good);
    const violations = dockerfileViolations(dockerfile.replace(good, bad), { ...facts, assets: ['x.sql', 'x.lua'] });
    expect(violations.join('\n')).toContain(complaint);
  });

  const needed = [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'tsconfig.json',
    'tsconfig.build.json',
    'tools/build.ts',
    'apps',
    'libs',
    'migrations',
    'LICENSE',
  ];
  test('.dockerignore keeps secrets out of the build context and lets in all files that the build needs', () => {
    expect(dockerignoreViolations(readText('.dockerignore'), needed)).toEqual([]);
    expect(dockerignoreViolations('node_modules\nmigrations', needed)).toEqual(
      expect.arrayContaining(['.dockerignore: lets .env in', '.dockerignore: keeps out migrations']),
    );
  });
});

describe('docker-compose.yml', () => {
  const facts = { settings, apps, ports, runtimeVariables, portless: portlessServices, drainSeconds, exists };
  const compose = readText('docker-compose.yml');

  test('docker-compose.yml breaks no rule: it starts the whole system in development mode', () => {
    expect(composeViolations(parseCompose(compose), facts)).toEqual([]);
  });

  /** The faults of the settings with which a service runs: those of compose on top of those of the image. */
  const faultsIn = (text: string) =>
    Object.entries(apps).flatMap(([name, app]) => {
      const own = Object.entries(parseCompose(text).services[name]?.environment ?? {});
      // Compose replaces `${NAME:-default}` by the default.
      const values = own.map(([setting, value]) => [setting, value.replace(/^\$\{\w+:-(\w*)\}$/, '$1')]);
      return settingsFaults(app, {
        BIND_HOST: '0.0.0.0',
        NODE_ENV: 'production',
        ...(Object.fromEntries(values) as Record<string, string>),
      });
    });

  test('every service starts with the settings of the image; without ALLOW_MOCK_ON_NETWORK the monolith and the queue service refuse to start', () => {
    expect(faultsIn(compose)).toEqual([]);
    const faults = faultsIn(compose.replace("ALLOW_MOCK_ON_NETWORK: 'true'", "ALLOW_MOCK_ON_NETWORK: 'false'"));
    expect(faults).toHaveLength(2);
    expect(faults.join()).toContain('AUTH_MODE: mock is refused when BIND_HOST is not a loopback address');
  });

  test('one service sends the mails and one the pushes; the job worker starts only with the profile `worker`', () => {
    const { services } = parseCompose(compose);
    const queues = Object.entries(services).flatMap(([name, { environment }]) =>
      environment?.WORKER_QUEUES === undefined ? [] : [[name, environment.WORKER_QUEUES]],
    );
    expect(queues).toEqual([
      ['email-worker', 'email'],
      ['push-worker', 'push'],
    ]);
    expect(Object.entries(services).flatMap(([name, { profiles }]) => (profiles ? [[name, ...profiles]] : []))).toEqual([
      ['job-worker', 'worker'],
    ]);
    expect(services['job-worker']?.command?.slice(3)).toEqual(['jobs:consume', '--time-limit=3600', '--limit=1000000']);
  });

  test('LOADER_SOURCES of the loader service is valid and its source files exist', () => {
    const { LOADER_SOURCES = '' } = parseCompose(compose).services.loader?.environment ?? {};
    const { sources, faults } = readSources(LOADER_SOURCES.replace('/etc/tribina', 'compose'), {});
    expect(faults).toEqual([]);
    for (const source of sources) expect(source.kind === 'file' && exists(source.path)).toBe(true);
    expect(sources.map(({ feeds }) => feeds)).toEqual(['gate-scans', 'partner-sales']);
  });

  test.each([
    ['apps/queue-service/src/main.js', 'apps/queue-service/main.js', 'there is no apps/queue-service/main.ts'],
    ['apps/queue-service/src/main.js', 'apps/monolith/src/main.js', 'not its own'],
    ['127.0.0.1:3001:3001', '3001:3001', 'not its port on 127.0.0.1 only'],
    ['127.0.0.1:3001/health/ready', '127.0.0.1:3000/health/ready', 'queue-service: has no health check'],
    ['QUEUE_INTERNAL_URL:', 'QUEUE_URL:', 'QUEUE_URL is not a setting'],
    ['NODE_ENV: development\n', '\n', 'production mode'],
    ['NODE_ENV: development', 'NODE_ENV: production', 'production mode'],
    ['        noeviction,', '        allkeys-lru,', 'redis: may lose data'],
    ['max_pred_locks_per_page=200', 'max_pred_locks_per_page=2', 'predicate locks'],
    ['postgres-data:/var/lib/postgresql', 'postgres-data:/var/lib/postgresql/data', 'its data is not in the volume'],
    ['redis-data:/data', 'redis:/data', 'redis: is used and not declared'],
    [
      'migrate: { condition: service_completed_successfully }',
      'migration: { condition: service_completed_successfully }',
      'waits for migration',
    ],
    ['seed: { condition: service_completed_successfully }', 'seed: { condition: service_healthy }', 'nothing checks that'],
    ['stop_grace_period: 65s', 'stop_grace_period: 30s', 'killed before its drain'],
    ['  loader:\n', '  leader:\n', 'loader: is missing'],
    ['  push-worker:\n', '  pushes:\n', 'push-worker: is missing'],
    ['ports: []', "ports: ['127.0.0.1:3002:3002']", 'push-worker: publishes 127.0.0.1:3002:3002'],
    ['restart: unless-stopped', 'restart: on-failure', 'job-worker: restart is on-failure'],
    ['WORKER_QUEUES: push', 'WORKER_QUEUE: push', 'push-worker: WORKER_QUEUE is not a setting'],
    ['./compose/loader:', './compose/leader:', './compose/leader: is mounted and does not exist'],
    ['LOADER_SOURCES:', 'LOADER_SOURCE:', 'loader: LOADER_SOURCE is not a setting'],
    ["cli.js, 'loader:run'", "main.js, 'loader:run'", 'loader: runs dist/apps/monolith/src/main.js, which is not its own'],
    ['cap_drop: [ALL]', 'cap_drop: [NET_RAW]', 'not locked down'],
  ])('docker-compose.yml: replacing %j by %j is reported', (good, bad, complaint) => {
    expect(compose).toContain(good);
    expect(composeViolations(parseCompose(compose.replace(good, bad)), facts).join('\n')).toContain(complaint);
  });
});
