import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import { ConfigFaults, loadConfig } from '#platform/config/load-config';
import { parseSources } from '#event-loader/adapters/configured-sources';
import { configs, production } from './facts.ts';
import { ofKind } from './kube-documents.ts';

type Service = keyof typeof configs;
type Variables = Record<string, string>;

const dataOf = (kind: string, name: string): Variables => {
  const [found] = ofKind<{ data?: Variables; stringData?: Variables }>(production, kind).filter(
    (document) => document.name === name,
  );
  return { ...found?.body.data, ...found?.body.stringData };
};

/** What an operator would put where the templates have nothing. */
const filled: Variables = {
  DATABASE_URL: 'postgres://tribina@10.20.0.5/tribina',
  REDIS_URL: 'rediss://10.20.1.5:6379,rediss://10.20.1.6:6379',
  INTERNAL_AUTH_SECRET: 'x'.repeat(44),
  QUEUE_RECEIPT_SECRET: 'y'.repeat(44),
  TICKET_SIGNING_KEY: Buffer.alloc(32, 7).toString('base64'),
  STRIPE_SECRET_KEY: 'sk_live_0',
  STRIPE_WEBHOOK_SECRET: `whsec_${'z'.repeat(32)}`,
  MAILGUN_API_KEY: 'key-0',
};

/** The environment of a pod in production, as its ConfigMap and its Secret make it. */
function environmentOf(service: Service, holes: readonly string[] = []): Variables {
  const secret = Object.keys(dataOf('Secret', `tribina-${service}`)).map((name) => [
    name,
    holes.includes(name) ? '' : (filled[name] ?? ''),
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

test.each(services)('%s starts in production once the templates are filled', (service) => {
  expect(faultsOf(service, environmentOf(service))).toEqual([]);
});

const secrets = services.flatMap((service) =>
  Object.keys(dataOf('Secret', `tribina-${service}`)).map((name) => [service, name] as const),
);
test.each(secrets)('%s refuses to start in production while %s is as in the template', (service, name) => {
  const faults = faultsOf(service, environmentOf(service, [name]));
  expect(faults.filter((fault) => fault.startsWith(`${name}: `))).toHaveLength(1);
});

test.each(services)('%s gets no secret that it does not read', (service) => {
  const given = Object.keys(dataOf('Secret', `tribina-${service}`));
  expect(given.filter((name) => !(name in configs[service].shape))).toEqual([]);
});

test.each([
  ['monolith', 'AUTH_MODE', 'mock'],
  ['queue-service', 'AUTH_MODE', 'mock'],
  ['monolith', 'PAYMENT_PROVIDER', 'sandbox'],
  ['notification-worker', 'EMAIL_PROVIDER', 'mailbox'],
  ['notification-worker', 'PUSH_PROVIDER', 'mailbox'],
] as const)('%s refuses %s=%s in the production of these manifests', (service, name, value) => {
  expect(faultsOf(service, { ...environmentOf(service), [name]: value })).toContain(`${name}: ${value} is refused in production`);
});

test('the settings of the base have holes that production refuses', () => {
  const [base] = ofKind<{ data: Variables }>(production, 'ConfigMap');
  const emptied = { ...environmentOf('monolith'), JWT_JWKS_URL: '', JWT_ISSUER: '', JWT_AUDIENCE: '' };
  expect(Object.values(base?.body.data ?? {}).filter((value) => value === '')).toEqual([]);
  expect(faultsOf('monolith', emptied)).toHaveLength(3);
});

test('the loader has the monolith’s settings, and sources that these satisfy', () => {
  const [loader] = ofKind<IDeployment>(production, 'Deployment').filter(({ name }) => name === 'loader');
  const [container] = loader?.body.spec?.template.spec?.containers ?? [];
  const taken = container?.envFrom?.map(({ secretRef, configMapRef }) => secretRef?.name ?? configMapRef?.name);
  expect(taken).toEqual(['tribina-settings', 'tribina-monolith', 'tribina-loader']);
  const file = container?.env?.find(({ name }) => name === 'LOADER_SOURCES')?.value ?? '';
  expect(container?.volumeMounts?.some(({ mountPath }) => `${mountPath}/sources.json` === file)).toBe(true);
  const given: unknown = JSON.parse(dataOf('ConfigMap', 'tribina-loader-sources')['sources.json'] ?? '');
  expect(parseSources(given, environmentOf('monolith'), '/').faults).toEqual([]);
  expect(parseSources(given, environmentOf('monolith', ['STRIPE_SECRET_KEY']), '/').faults).toHaveLength(1);
});
