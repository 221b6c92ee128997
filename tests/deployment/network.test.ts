import * as settingsSlices from '#platform/config/settings';
import { webPrefixes } from '../../apps/monolith/src/web-pages.ts';
import { inCluster, kind, production } from './manifests-and-settings.ts';
import { withChangedField, ofKind, withoutDocument } from './kube-documents.ts';
import type { Party } from './network.ts';
import { mayConnect, routedService } from './network.ts';

describe('network', () => {
  const ingress: Party = { namespace: 'nginx-ingress' };
  const prometheus: Party = { namespace: 'monitoring' };
  const dns: Party = { namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } };
  const pod = (name: string): Party => ({ pod: name });
  const allowedConnections: [string, Party, Party, number][] = [
    ['the ingress reaches the monolith', ingress, pod('monolith'), 3000],
    ['the ingress reaches the queue service', ingress, pod('queue-service'), 3001],
    ['the monolith reaches the queue service', pod('monolith'), pod('queue-service'), 3001],
    ['Prometheus reaches the e-mail worker', prometheus, pod('email-worker'), 3002],
    ['Prometheus reaches the push worker', prometheus, pod('push-worker'), 3002],
    ['the queue service resolves names', pod('queue-service'), dns, 53],
    ['the monolith reaches PostgreSQL', pod('monolith'), { address: '10.20.0.5' }, 5432],
    ['the migration reaches PostgreSQL', pod('migrate'), { address: '10.20.0.5' }, 5432],
    ['the queue service reaches Redis', pod('queue-service'), { address: '10.20.1.5' }, 6379],
    ['the loader reaches PostgreSQL', pod('loader'), { address: '10.20.0.5' }, 5432],
    ['the loader reaches Redis', pod('loader'), { address: '10.20.1.5' }, 6379],
    ['the loader reaches a source', pod('loader'), { address: '203.0.113.7' }, 443],
    ['the e-mail worker reaches the mail provider', pod('email-worker'), { address: '203.0.113.7' }, 443],
    ['the push worker reaches PostgreSQL', pod('push-worker'), { address: '10.20.0.5' }, 5432],
  ];
  const forbiddenConnections: [string, Party, Party, number][] = [
    ['the ingress cannot reach the e-mail worker and its mailbox', ingress, pod('email-worker'), 3002],
    ['another namespace cannot reach the monolith', { namespace: 'default' }, pod('monolith'), 3000],
    ['the worker cannot reach the queue service', pod('push-worker'), pod('queue-service'), 3001],
    ['the queue service cannot reach the monolith', pod('queue-service'), pod('monolith'), 3000],
    ['the queue service cannot reach PostgreSQL', pod('queue-service'), { address: '10.20.0.5' }, 5432],
    ['the monolith cannot reach another database of the same network', pod('monolith'), { address: '10.30.0.5' }, 5432],
    ['the migration cannot reach Redis', pod('migrate'), { address: '10.20.1.5' }, 6379],
    ['the migration cannot reach the internet', pod('migrate'), { address: '203.0.113.7' }, 443],
    ['the loader cannot reach the monolith', pod('loader'), pod('monolith'), 3000],
    ['the loader cannot reach an address inside the private network', pod('loader'), { address: '10.30.0.5' }, 443],
    ['a pod cannot reach the metadata service of the cloud', pod('monolith'), { address: '169.254.169.254' }, 443],
    ['a pod cannot reach the internet on the unencrypted port 80', pod('monolith'), { address: '203.0.113.7' }, 80],
  ];

  test.each(allowedConnections)('network policies allow the connection: %s', (_name, from, to, port) => {
    expect(mayConnect(production, from, to, port)).toBe(true);
  });
  test.each(forbiddenConnections)('network policies refuse the connection: %s', (_name, from, to, port) => {
    expect(mayConnect(production, from, to, port)).toBe(false);
  });

  test('each network policy except default-deny is needed for an allowed connection, and without policies all forbidden connections are open', () => {
    const policies = ofKind(production, 'NetworkPolicy').map(({ label }) => label);
    const needed = policies.filter((label) =>
      allowedConnections.some(([, from, to, port]) => !mayConnect(withoutDocument(production, label), from, to, port)),
    );
    expect(needed).toEqual(policies.filter((label) => label !== 'NetworkPolicy/default-deny'));
    const noPolicies = policies.reduce(withoutDocument, production);
    expect(forbiddenConnections.every(([, from, to, port]) => mayConnect(noPolicies, from, to, port))).toBe(true);
  });
});

describe('network of the data tier in the cluster', () => {
  const pod = (name: string): Party => ({ pod: name });
  const operator: Party = { namespace: 'cnpg-system' };
  const owned: [Party, Party, number][] = [
    [pod('monolith'), pod('postgresql'), 5432],
    [pod('email-worker'), pod('postgresql'), 5432],
    [pod('migrate'), pod('postgresql'), 5432],
    [pod('queue-service'), pod('redis'), 6379],
    [pod('push-worker'), pod('redis'), 6379],
    [pod('loader'), pod('redis'), 6379],
  ];
  const refused: [Party, Party, number][] = [
    [pod('queue-service'), pod('postgresql'), 5432],
    [pod('migrate'), pod('redis'), 6379],
    [pod('redis'), pod('postgresql'), 5432],
    [{ namespace: 'default' }, pod('redis'), 6379],
    [{ namespace: 'default' }, pod('postgresql'), 5432],
  ];
  const onlyInCluster: [Party, Party, number][] = [
    [pod('job-worker'), pod('postgresql'), 5432],
    [pod('job-worker'), pod('redis'), 6379],
    [pod('create-redis-cluster'), pod('redis'), 6379],
    [pod('redis'), pod('redis'), 16379],
    [pod('postgresql'), pod('postgresql'), 5432],
    [operator, pod('postgresql'), 8000],
    // The API of Kubernetes, from which an instance learns its role.
    [pod('postgresql'), { address: '10.96.0.1' }, 443],
  ];
  const refusedOnlyInCluster: [Party, Party, number][] = [
    [pod('monolith'), pod('redis'), 16379],
    [pod('monolith'), { address: '10.20.0.5' }, 5432],
    [pod('redis'), { address: '203.0.113.7' }, 443],
    [operator, pod('redis'), 6379],
  ];

  test.each([
    ['in-cluster', inCluster, [...owned, ...onlyInCluster], [...refused, ...refusedOnlyInCluster]],
    ['kind', kind, [...owned, [pod('seed'), pod('postgresql'), 5432] as [Party, Party, number]], refused],
  ])('%s: the policies allow the connections that are needed and refuse others', (_name, documents, wanted, unwanted) => {
    const may = ([from, to, port]: [Party, Party, number]) => mayConnect(documents, from, to, port);
    expect(wanted.filter((connection) => !may(connection))).toEqual([]);
    expect(unwanted.filter(may)).toEqual([]);
  });
});

describe('ingress', () => {
  const match = '01890f3e-7c4b-7cc2-98c4-dc0c0c07398f';
  const api = (target: string) => routedService(production, 'api.hns.hr', target);
  const queue = (target: string) => routedService(production, 'queue.hns.hr', target);

  test.each([
    '/api/v1/matches',
    `/api/v1/matches/${match}/availability`,
    '/api/v1/payments/webhooks/stripe',
    '/openapi.json',
    '/docs',
    '/docs/errors',
  ])('the API host routes the path %s to the monolith', (target) => {
    expect(api(target)).toBe('monolith');
  });

  test('the ingress routes every path of a web page on the API host to the monolith', () => {
    const targets = webPrefixes.map((prefix) => prefix.replace(/\*$/, match).replace(/\/assets\/$/, '/assets/index-Dk3f.js'));
    expect(targets).toContain('/');
    expect(targets.filter((target) => api(target) !== 'monolith')).toEqual([]);
  });

  test.each([
    `/api/v1/queue/${match}/join`,
    `/api/v1/queue/${match}/position`,
    `/api/v1/queue/${match}/status`,
    `/api/v1/queue/${match}`,
    '/ws/qt_Ab-9_x',
    '/sse/qt_Ab-9_x',
    '/docs',
    '/openapi.json',
    '/asyncapi.json',
  ])('the queue host routes the path %s to the queue service', (target) => {
    expect(queue(target)).toBe('queue-service');
  });

  const internal = [
    '/metrics',
    '/health/ready',
    '/asyncapiXjson',
    '/mailbox',
    '/mailbox/',
    `/api/v1/queue/${match}/sold-out`,
    `/api/v1/queue/${match}/control`,
    `/api/v1/queue/${match}/windows/${match}/complete`,
    `/api/v1/queue/${match}/join/../control`,
    `/api/v1/queue/${match}/%63ontrol`,
    `/api/v1/queue/${match}%2Fcontrol`,
    `/api/v1/queue/${match}/CONTROL`,
    `//api/v1/queue/${match}/control`,
    `/api/v1/queue/${match}/join/%2e%2e/control`,
    '/%6detrics',
    '/docs/../metrics',
  ];
  test.each(internal)('the internal path %s is not routed from outside', (target) => {
    expect(queue(target)).toBeUndefined();
    expect(target.includes('/queue/') ? undefined : api(target)).toBeUndefined();
  });

  test('negative control: an ingress with a path prefix instead of regular expressions routes internal calls from outside', () => {
    const withPrefix = withChangedField(production, 'Ingress/queue-service', 'spec.rules.0.http.paths.1', {
      path: '/api/v1/queue',
      pathType: 'Prefix',
      backend: { service: { name: 'queue-service', port: { name: 'http' } } },
    });
    expect(routedService(withPrefix, 'queue.hns.hr', `/api/v1/queue/${match}/control`)).toBe('queue-service');
  });

  test('the ingress waits over 600 s on WebSockets of the queue service, and longer than the request deadline for the monolith', () => {
    const seconds = ofKind<{ metadata: { annotations: Record<string, string> } }>(production, 'Ingress').map(({ name, body }) =>
      ['nginx.org/proxy-read-timeout', 'nginx.ingress.kubernetes.io/proxy-read-timeout'].map(
        (key) => [name, Number.parseInt(body.metadata.annotations[key] ?? '', 10)] as const,
      ),
    );
    const deadline = settingsSlices.requestLimitSettings.parse({}).REQUEST_DEADLINE_MS / 1000;
    for (const [name, timeout] of seconds.flat()) expect(timeout).toBeGreaterThan(name === 'monolith' ? deadline : 600);
  });
});
