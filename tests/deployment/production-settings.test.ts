import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import { ConfigFaults, loadConfig } from '#platform/config/load-config';
import { parseSources } from '#event-loader/adapters/configured-sources';
import { configs, production } from './manifests-and-settings.ts';
import { ofKind } from './kube-documents.ts';

type Service = keyof typeof configs;
type Variables = Record<string, string>;

const dataOf = (kind: string, name: string): Variables => {
  const [found] = ofKind<{ data?: Variables; stringData?: Variables }>(production, kind).filter(
    (document) => document.name === name,
  );
  return { ...found?.body.data, ...found?.body.stringData };
};

/** Example values for the Secret templates, such as an operator fills in. */
const secretValues: Variables = {
  DATABASE_URL: 'postgres://tribina@10.20.0.5/tribina',
  REDIS_URL: 'rediss://10.20.1.5:6379,rediss://10.20.1.6:6379',
  INTERNAL_AUTH_SECRET: 'x'.repeat(44),
  QUEUE_RECEIPT_SECRET: 'y'.repeat(44),
  TICKET_SIGNING_KEY: Buffer.alloc(32, 7).toString('base64'),
  STRIPE_SECRET_KEY: 'sk_live_0',
  STRIPE_WEBHOOK_SECRET: `whsec_${'z'.repeat(32)}`,
  MAILGUN_API_KEY: 'key-0',
};

/** The environment of a production pod, from its ConfigMap and its Secret. The secrets named in `empty` have no value. */
function environmentOf(service: Service, empty: readonly string[] = []): Variables {
  const secret = Object.keys(dataOf('Secret', `tribina-${service}`)).map((name) => [
    name,
    empty.includes(name) ? '' : (secretValues[name] ?? ''),
  ]);
  return { ...dataOf('ConfigMap', 'tribina-settings'), ...(Object.fromEntries(secret) as Variables) };
}

function faultsOf(service: Service, environment: Variables): readonly string[] {
  try {
    loadConfig(configs[service], environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigFaults) return error.faults;
    throw error;
  }
}

const services = Object.keys(configs) as Service[];

test.each(services)('%s starts in production with filled Secret templates', (service) => {
  expect(faultsOf(service, environmentOf(service))).toEqual([]);
});

const secrets = services.flatMap((service) =>
  Object.keys(dataOf('Secret', `tribina-${service}`)).map((name) => [service, name] as const),
);
test.each(secrets)('%s refuses to start in production while %s is empty as in the template', (service, name) => {
  const faults = faultsOf(service, environmentOf(service, [name]));
  expect(faults.filter((fault) => fault.startsWith(`${name}: `))).toHaveLength(1);
});

test.each(services)('the Secret of %s has only settings that the service reads', (service) => {
  const given = Object.keys(dataOf('Secret', `tribina-${service}`));
  expect(given.filter((name) => !(name in configs[service].shape))).toEqual([]);
});

test.each([
  ['monolith', 'AUTH_MODE', 'mock'],
  ['queue-service', 'AUTH_MODE', 'mock'],
  ['monolith', 'PAYMENT_PROVIDER', 'sandbox'],
  ['notification-worker', 'EMAIL_PROVIDER', 'mailbox'],
  ['notification-worker', 'PUSH_PROVIDER', 'mailbox'],
] as const)('%s refuses %s=%s in production', (service, name, value) => {
  expect(faultsOf(service, { ...environmentOf(service), [name]: value })).toContain(`${name}: ${value} is refused in production`);
});

test('the production ConfigMap has no empty settings, and a service refuses to start with empty JWT settings', () => {
  const [configMap] = ofKind<{ data: Variables }>(production, 'ConfigMap');
  const emptied = { ...environmentOf('monolith'), JWT_JWKS_URL: '', JWT_ISSUER: '', JWT_AUDIENCE: '' };
  expect(Object.values(configMap?.body.data ?? {}).filter((value) => value === '')).toEqual([]);
  expect(faultsOf('monolith', emptied)).toHaveLength(3);
});

test('the Deployment of the event loader gets the settings of the monolith, and its source file is valid with these settings', () => {
  const [loader] = ofKind<IDeployment>(production, 'Deployment').filter(({ name }) => name === 'loader');
  const [container] = loader?.body.spec?.template.spec?.containers ?? [];
  const settingsSources = container?.envFrom?.map(({ secretRef, configMapRef }) => secretRef?.name ?? configMapRef?.name);
  expect(settingsSources).toEqual(['tribina-settings', 'tribina-monolith', 'tribina-loader']);
  const sourcesPath = container?.env?.find(({ name }) => name === 'LOADER_SOURCES')?.value ?? '';
  expect(container?.volumeMounts?.some(({ mountPath }) => `${mountPath}/sources.json` === sourcesPath)).toBe(true);
  const sources: unknown = JSON.parse(dataOf('ConfigMap', 'tribina-loader-sources')['sources.json'] ?? '');
  expect(parseSources(sources, environmentOf('monolith'), '/').faults).toEqual([]);
  expect(parseSources(sources, environmentOf('monolith', ['STRIPE_SECRET_KEY']), '/').faults).toHaveLength(1);
});
