import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import { loadConfig } from '#platform/config/load-config';
import { parseSources } from '#event-loader/adapters/configured-sources';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { migrationTarget } from '../../apps/monolith/src/cli/environment.ts';
import { loaderConfig } from '../../apps/monolith/src/config.ts';
import { apps, configs, inCluster, kind, production, runtimeVariables, settingsFaults } from './manifests-and-settings.ts';
import type { KubeDocument } from './kube-documents.ts';
import { ofKind } from './kube-documents.ts';

type Service = keyof typeof apps;
type Variables = Record<string, string>;

const dataOf = (documents: readonly KubeDocument[], kindOf: string, name: string): Variables => {
  const [found] = ofKind<{ data?: Variables; stringData?: Variables }>(documents, kindOf).filter(
    (document) => document.name === name,
  );
  return { ...found?.body.data, ...found?.body.stringData };
};

/** Example values for the Secret templates, such as an operator fills in. */
const secretValues: Variables = {
  DATABASE_URL: 'postgres://tribina@10.20.0.5/tribina',
  REDIS_URL: 'rediss://10.20.1.5:6379,rediss://10.20.1.6:6379',
  INTERNAL_AUTH_SECRET: randomBytes(32).toString('base64'),
  QUEUE_RECEIPT_SECRET: randomBytes(32).toString('base64'),
  TICKET_SIGNING_KEY: randomBytes(32).toString('base64'),
  STRIPE_SECRET_KEY: 'sk_live_0',
  STRIPE_WEBHOOK_SECRET: `whsec_${'z'.repeat(32)}`,
  MAILGUN_API_KEY: 'key-0',
};

/** The environment of the container of this Deployment as Kubernetes makes it, with the values of the documents' Secrets. */
function containerEnvironment(documents: readonly KubeDocument[], service: string): Variables {
  const [deployment] = ofKind<IDeployment>(documents, 'Deployment').filter(({ name }) => name === service);
  const [container] = deployment?.body.spec?.template.spec?.containers ?? [];
  const sources = (container?.envFrom ?? []).map(({ secretRef, configMapRef }) =>
    secretRef ? dataOf(documents, 'Secret', secretRef.name ?? '') : dataOf(documents, 'ConfigMap', configMapRef?.name ?? ''),
  );
  const own = (container?.env ?? []).map(({ name, value }) => [name, value ?? '']);
  // The image sets BIND_HOST and NODE_ENV.
  return Object.assign({ BIND_HOST: '0.0.0.0', NODE_ENV: 'production' }, ...sources, Object.fromEntries(own)) as Variables;
}

/** The environment of a production pod with filled Secret templates. The secrets named in `empty` have no value. */
function environmentOf(
  service: Service,
  empty: readonly string[] = [],
  documents: readonly KubeDocument[] = production,
): Variables {
  const filled = secretNames(service).map((name) => [name, empty.includes(name) ? '' : (secretValues[name] ?? '')]);
  return { ...containerEnvironment(documents, service), ...(Object.fromEntries(filled) as Variables) };
}

const secretNames = (service: Service) => Object.keys(dataOf(production, 'Secret', `tribina-${service}`));

const faultsOf = (service: Service, environment: Variables) => settingsFaults(apps[service], environment);

const services = Object.keys(apps) as Service[];

test.each(services)('%s starts in production with filled Secret templates', (service) => {
  expect(faultsOf(service, environmentOf(service))).toEqual([]);
  expect(faultsOf(service, environmentOf(service, [], inCluster))).toEqual([]);
});

test.each([...services, 'loader', 'job-worker'])('%s gets only settings that exist for its process', (service) => {
  const app = apps[service as Service] ?? 'monolith';
  const known = new Set([...Object.keys(configs[app].shape), ...Object.keys(loaderConfig.shape), ...runtimeVariables]);
  const secretsAndOwn = Object.keys(containerEnvironment(inCluster, service)).filter(
    (name) => !(name in dataOf(inCluster, 'ConfigMap', 'tribina-settings')),
  );
  expect(secretsAndOwn.filter((name) => !known.has(name))).toEqual([]);
});

test('each worker has the credentials of its own provider only', () => {
  expect(secretNames('email-worker')).toEqual(['DATABASE_URL', 'REDIS_URL', 'MAILGUN_API_KEY']);
  expect(secretNames('push-worker')).toEqual(['DATABASE_URL', 'REDIS_URL']);
  const queues = (['email-worker', 'push-worker'] as const).map((service) => environmentOf(service).WORKER_QUEUES);
  expect(queues).toEqual(['email', 'push']);
});

test('the monolith runs no jobs where the job worker runs them, and otherwise it does', () => {
  const runsJobs = (documents: readonly KubeDocument[]) =>
    loadConfig(configs.monolith, environmentOf('monolith', [], documents)).JOBS_IN_MONOLITH;
  expect([runsJobs(production), runsJobs(inCluster)]).toEqual([true, false]);
});

test.each(services)('kind: %s starts with the settings of the overlay, in development mode', (service) => {
  const environment = containerEnvironment(kind, service);
  expect(faultsOf(service, environment)).toEqual([]);
  expect(environment).toMatchObject({ NODE_ENV: 'development', AUTH_MODE: 'mock', EMAIL_PROVIDER: 'mailbox' });
  expect(faultsOf(service, { ...environment, NODE_ENV: 'production' })).not.toEqual([]);
});

test.each(['monolith', 'queue-service'] as const)('kind: %s refuses mock callers without ALLOW_MOCK_ON_NETWORK', (service) => {
  const { ALLOW_MOCK_ON_NETWORK: _allowed, ...environment } = containerEnvironment(kind, service);
  expect(faultsOf(service, environment)).toEqual([expect.stringMatching(/^AUTH_MODE: mock is refused when BIND_HOST/)]);
});

test('kind: the loader’s source file is valid, and the file that it names is in the same ConfigMap', () => {
  const files = dataOf(kind, 'ConfigMap', 'tribina-loader-sources');
  const { sources, faults } = parseSources(JSON.parse(files['sources.json'] ?? ''), {}, '/etc/tribina/loader');
  expect(faults).toEqual([]);
  expect(sources.map((source) => (source.kind === 'file' ? path.basename(source.path) : ''))).toEqual(['gate-scans.ndjson']);
  expect(files).toHaveProperty(['gate-scans.ndjson']);
});

const secrets = services.flatMap((service) => secretNames(service).map((name) => [service, name] as const));
test.each(secrets)('%s refuses to start in production while %s is empty as in the template', (service, name) => {
  const faults = faultsOf(service, environmentOf(service, [name]));
  expect(faults.filter((fault) => fault.startsWith(`${name}: `))).toHaveLength(1);
});

test.each(services)('the Secret of %s has only settings that the service reads', (service) => {
  expect(secretNames(service).filter((name) => !(name in configs[apps[service]].shape))).toEqual([]);
});

test('the migration starts in production with its filled Secret, and refuses to start without the owner of the schema', () => {
  const template = dataOf(production, 'Secret', 'tribina-migrate');
  expect(Object.keys(template)).toEqual(['DATABASE_MIGRATION_URL', 'DATABASE_URL']);
  const { DATABASE_URL = '' } = secretValues;
  const filled = { NODE_ENV: 'production', DATABASE_URL, DATABASE_MIGRATION_URL: 'postgres://owner@10.20.0.5/tribina' };
  expect(migrationTarget(filled)).toMatchObject({ services: { user: 'tribina' }, warnings: [] });
  expect(() => migrationTarget({ ...filled, DATABASE_MIGRATION_URL: '' })).toThrow('DATABASE_MIGRATION_URL');
});

test('kind: the migration is the owner and creates the user of the services', () => {
  const { services, ownerUrl, warnings } = migrationTarget(dataOf(kind, 'Secret', 'tribina-migrate'));
  expect([services.user, warnings]).toEqual(['tribina_services', []]);
  expect(dataOf(kind, 'Secret', 'tribina-monolith').DATABASE_URL).not.toBe(ownerUrl);
  const [job] = ofKind<IJob>(kind, 'Job').filter(({ name }) => name === 'migrate');
  expect(job?.body.spec?.template.spec?.containers[0]?.command?.slice(-2)).toEqual(['migrate', '--create-user']);
});

test.each([
  ['monolith', 'AUTH_MODE', 'mock'],
  ['queue-service', 'AUTH_MODE', 'mock'],
  ['monolith', 'PAYMENT_PROVIDER', 'sandbox'],
  ['email-worker', 'EMAIL_PROVIDER', 'mailbox'],
  ['push-worker', 'PUSH_PROVIDER', 'mailbox'],
] as const)('%s refuses %s=%s in production', (service, name, value) => {
  expect(faultsOf(service, { ...environmentOf(service), [name]: value })).toContain(`${name}: ${value} is refused in production`);
});

test.each(['fcm', 'none', 'mailbox', ''])(
  'the monolith, which sends no pushes, starts in production with PUSH_PROVIDER=%s and without credentials for it',
  (provider) => {
    expect(faultsOf('monolith', { ...environmentOf('monolith'), PUSH_PROVIDER: provider, FCM_SERVICE_ACCOUNT: '' })).toEqual([]);
  },
);

test.each(['email-worker', 'push-worker'] as const)('%s starts in production with PUSH_PROVIDER=none', (service) => {
  expect(faultsOf(service, { ...environmentOf(service), PUSH_PROVIDER: 'none', FCM_SERVICE_ACCOUNT: '' })).toEqual([]);
});

test('the production ConfigMap has no empty settings, and a service refuses to start with empty JWT settings', () => {
  const [configMap] = ofKind<{ data: Variables }>(production, 'ConfigMap');
  const emptied = { ...environmentOf('monolith'), JWT_JWKS_URL: '', JWT_ISSUER: '', JWT_AUDIENCE: '' };
  expect(Object.values(configMap?.body.data ?? {}).filter((value) => value === '')).toEqual([]);
  expect(faultsOf('monolith', emptied)).toHaveLength(3);
});

test('the Deployment of the event loader gets no secret of the monolith, and its source file is valid with its own settings', () => {
  const [loader] = ofKind<IDeployment>(production, 'Deployment').filter(({ name }) => name === 'loader');
  const [container] = loader?.body.spec?.template.spec?.containers ?? [];
  const settingsSources = container?.envFrom?.map(({ secretRef, configMapRef }) => secretRef?.name ?? configMapRef?.name);
  expect(settingsSources).toEqual(['tribina-settings', 'tribina-loader']);
  const secretsOfLoader = Object.keys(dataOf(production, 'Secret', 'tribina-loader'));
  expect(secretsOfLoader).toEqual(['DATABASE_URL', 'REDIS_URL', 'STRIPE_SECRET_KEY', 'TICKET_PUBLIC_KEYS']);
  const sourcesPath = container?.env?.find(({ name }) => name === 'LOADER_SOURCES')?.value ?? '';
  expect(container?.volumeMounts?.some(({ mountPath }) => `${mountPath}/sources.json` === sourcesPath)).toBe(true);
  const sources: unknown = JSON.parse(dataOf(production, 'ConfigMap', 'tribina-loader-sources')['sources.json'] ?? '');
  expect(parseSources(sources, { STRIPE_SECRET_KEY: 'rk_live_0' }, '/').faults).toEqual([]);
  expect(parseSources(sources, {}, '/').faults).toHaveLength(1);
});
