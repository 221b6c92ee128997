import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as settingsSlices from '#platform/config/settings';
import type { ICluster } from '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1/Cluster';
import type { IScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { brokenCopies, brokenDataTier } from './deployment/broken-copies.ts';
import {
  apps,
  base,
  deployments,
  drainSeconds,
  exists,
  fixedReplicas,
  inCluster,
  kind,
  monitoring,
  ports,
  production,
  readText,
  renderedFolders,
  replicaBounds,
  runtimeVariables,
  secretSettings,
  settings,
  withKeda,
} from './deployment/manifests-and-settings.ts';
import type { Rule } from './deployment/kube-documents.ts';
import { withChangedField, isKustomization, ofKind, parseYaml, withoutDocument, yamlFiles } from './deployment/kube-documents.ts';
import { schemaViolations } from './deployment/kube-schemas.ts';
import { kustomizationViolations, renderKustomization, usedKustomizations } from './deployment/kustomize.ts';
import * as wiring from './deployment/wiring.ts';
import { podLabels } from './deployment/wiring.ts';
import * as workloads from './deployment/workloads.ts';

test('the ports in manifests-and-settings.ts are the default values of the port settings', () => {
  const defaults = settingsSlices.addressSettings.parse({});
  expect([defaults.MONOLITH_PORT, defaults.QUEUE_PORT, defaults.WORKER_PORT]).toEqual(Object.values(ports));
});

test('the drain limit of a service is longer than the request deadline', () => {
  expect(drainSeconds).toBeGreaterThan(settingsSlices.requestLimitSettings.parse({}).REQUEST_DEADLINE_MS / 1000);
});

describe('kubernetes schemas', () => {
  test.each(Object.entries(deployments))('every document of %s is valid by the schema of its kind', async (_name, documents) => {
    expect((await Promise.all(documents.map(schemaViolations))).flat()).toEqual([]);
  });

  test.each([
    [inCluster, 'Cluster/postgresql', 'spec.postgresql.synchronous.number', '1', 'number: type'],
    [inCluster, 'Cluster/postgresql', 'spec.bootstrap.initdb.locale_provider', 'builtin', 'does not know this field'],
    [inCluster, 'StatefulSet/redis', 'spec.serviceNames', 'redis', 'does not know this field'],
    [withKeda, 'ScaledObject/queue-service', 'spec.minReplicas', 3, 'minReplicas: Kubernetes does not know this field'],
    [withKeda, 'ScaledObject/queue-service', 'spec.triggers.1.metadata.threshold', 5000, 'threshold: type'],
  ])('schema check of the optional parts: a wrong field is reported (%#)', async (documents, label, at, value, complaint) => {
    const wrong = withChangedField(documents, label, at, value);
    expect((await Promise.all(wrong.map(schemaViolations))).flat().join('\n')).toContain(complaint);
  });

  test.each([
    ['a misspelt field', 'spec.template.spec.containers.0.livenesProbe', {}, 'livenesProbe: Kubernetes does not know this field'],
    [
      'a misspelt nested field',
      'spec.template.spec.containers.0.lifecycle.preStop.sleep.second',
      5,
      'sleep/second: Kubernetes does not know',
    ],
    ['a wrong type', 'spec.replicas', '5', 'spec/replicas: type'],
    ['a missing field', 'spec.selector', undefined, 'missingProperty":"selector"'],
    ['an unknown API', 'apiVersion', 'apps/v1beta1', 'apps/v1'],
  ])('schema check: %s is reported', async (_name, at, value, complaint) => {
    const documents = withChangedField(base, 'Deployment/monolith', at, value);
    expect((await Promise.all(documents.map(schemaViolations))).flat().join('\n')).toContain(complaint);
  });

  test.each(['defaultMode: 0440', 'proxy-buffering: off'])(
    'the line "%s" is refused, because YAML 1.1 and 1.2 read its value differently',
    (line) => {
      expect(() => parseYaml('a.yaml', line)).toThrow('read this file differently');
    },
  );

  test('a kind that Kubernetes does not have is reported', async () => {
    const [document] = base;
    expect(await schemaViolations({ ...document!, apiVersion: 'apps/v1', kind: 'Deploiment' })).toEqual([
      expect.stringContaining('Kubernetes has no apps/v1 Deploiment'),
    ]);
  });
});

describe('kustomizations', () => {
  let copy: string;
  beforeEach(() => {
    copy = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'tribina-k8s-')), 'k8s');
    fs.cpSync('k8s', copy, { recursive: true });
  });
  afterEach(() => fs.rmSync(path.dirname(copy), { recursive: true }));
  const edit = (file: string, change: (content: string) => string) =>
    fs.writeFileSync(path.join(copy, file), change(readText(path.join(copy, file))));

  test('every YAML file below k8s is named by a kustomization, and every file that a kustomization names exists', () => {
    expect(kustomizationViolations('k8s')).toEqual([]);
  });

  test('a file that no kustomization names is reported', () => {
    fs.writeFileSync(path.join(copy, 'base/forgotten.yaml'), 'kind: Service\n');
    expect(kustomizationViolations(copy)).toEqual([expect.stringContaining('base/forgotten.yaml: no kustomization names it')]);
  });

  test('a file that a kustomization names and that does not exist is reported', () => {
    fs.rmSync(path.join(copy, 'base/ingress.yaml'));
    expect(kustomizationViolations(copy)).toEqual([expect.stringContaining('base/ingress.yaml: named by')]);
  });

  test('a kustomization that deploys the empty Secret templates is reported', () => {
    edit('base/kustomization.yaml', (content) => `${content}  - ../secrets/monolith.yaml\n`);
    expect(kustomizationViolations(copy)).toEqual([expect.stringContaining('would overwrite the real Secret')]);
  });

  test('rendering fails for a patch of a document that does not exist', () => {
    edit('overlays/production/settings.yaml', (content) => content.replace('tribina-settings', 'tribina-setings'));
    expect(() => renderKustomization(path.join(copy, 'overlays/production'))).toThrow(
      'there is no ConfigMap/tribina-setings to patch',
    );
  });

  test('rendering fails for a kustomization field that the renderer does not support', () => {
    edit('overlays/production/kustomization.yaml', (content) => `${content}namePrefix: hns-\n`);
    expect(() => renderKustomization(path.join(copy, 'overlays/production'))).toThrow('namePrefix');
  });

  test('rendering fails for a JSON patch of a field that does not exist', () => {
    edit('overlays/kind/kustomization.yaml', (content) => content.replace('path: /spec/backoffLimit', 'path: /spec/backofLimit'));
    expect(() => renderKustomization(path.join(copy, 'overlays/kind'))).toThrow('nothing to replace at /spec/backofLimit');
  });

  test('these tests render every kustomization below k8s', () => {
    const folders = yamlFiles('k8s')
      .filter(isKustomization)
      .map((file) => path.dirname(file));
    const rendered = new Set(renderedFolders.flatMap(usedKustomizations));
    expect(folders.filter((folder) => !rendered.has(folder))).toEqual([]);
  });

  test('production: no Deployment sets replicas, and all seven containers use the image of this version', () => {
    const deployments = ofKind<{ spec: { replicas?: number } }>(production, 'Deployment');
    expect(deployments.map(({ body }) => body.spec.replicas)).toEqual(Array(6).fill(undefined));
    const { version } = JSON.parse(readText('package.json')) as { version: string };
    expect(JSON.stringify(base).match(/"image":"[^"]+"/g)).toEqual(Array(7).fill(`"image":"tribina:${version}"`));
    expect(JSON.stringify(production).match(/"image":"[^"]+"/g)).toEqual(
      Array(7).fill(`"image":"registry.example/tribina:${version}"`),
    );
    const own = JSON.stringify(inCluster).match(/"image":"[^"]*tribina[^"]*"/g);
    expect(own).toEqual(Array(8).fill(`"image":"registry.example/tribina:${version}"`));
  });
});

const rules: Record<string, Rule> = {
  podsAreLockedDown: workloads.podsAreLockedDown,
  podsHaveResourceLimits: workloads.podsHaveResourceLimits,
  deploymentsAreProbed: workloads.deploymentsAreProbed,
  deploymentsDrainInTime: workloads.deploymentsDrainInTime(drainSeconds),
  commandsExist: workloads.commandsExist(apps, exists),
  portsAreTheDefaults: workloads.portsAreTheDefaults(apps, ports),
  allImagesAreEqual: workloads.allImagesAreEqual,
  documentsHaveNamespaces: wiring.documentsHaveNamespaces(['tribina', 'monitoring']),
  selectorsFindPods: wiring.selectorsFindPods,
  servicesReachPorts: wiring.servicesReachPorts,
  autoscalersHaveBounds: wiring.autoscalersHaveBounds({ scaled: replicaBounds, fixed: fixedReplicas }),
  configMapsAndSecretsAreUsed: wiring.configMapsAndSecretsAreUsed,
  variablesAreSettings: wiring.variablesAreSettings(new Set([...settings, ...runtimeVariables])),
  secretsAreInSecrets: wiring.secretsAreInSecrets(secretSettings),
  secretsAreEmpty: wiring.secretsAreEmpty,
};

/** Where a rule does not apply: one pod each and public passwords on one machine, and a ConfigMap that the adapter reads. */
const exceptions: Record<string, readonly (keyof typeof deployments)[]> = {
  autoscalersHaveBounds: ['kind'],
  secretsAreEmpty: ['kind'],
  configMapsAndSecretsAreUsed: ['monitoring'],
};

describe('rules', () => {
  test.each(Object.entries(rules))('%s: no set of documents has a violation', (name, rule) => {
    const checked = Object.entries(deployments).filter(([set]) => !exceptions[name]?.includes(set as keyof typeof deployments));
    expect(checked.flatMap(([set, documents]) => rule(documents).map((violation) => `${set}: ${violation}`))).toEqual([]);
  });

  test.each(brokenCopies)('the rule %s reports a copy of %s with a wrong value at %s', (rule, label, at, value, complaint) => {
    expect(rules[rule]!(withChangedField(base, label, at, value)).join('\n')).toContain(complaint);
  });

  test('a Deployment without its HorizontalPodAutoscaler or PodDisruptionBudget is reported', () => {
    expect(rules.autoscalersHaveBounds!(withoutDocument(base, 'HorizontalPodAutoscaler/monolith'))).toEqual([
      expect.stringContaining('scales from undefined'),
    ]);
    expect(rules.autoscalersHaveBounds!(withoutDocument(base, 'PodDisruptionBudget/monolith'))).toEqual([
      expect.stringContaining('has no PodDisruptionBudget'),
    ]);
    const twice = [
      ...withKeda,
      ...base.filter(({ kind: of, name }) => of === 'HorizontalPodAutoscaler' && name === 'queue-service'),
    ];
    expect(rules.autoscalersHaveBounds!(twice)).toEqual([expect.stringContaining('queue-service: scales from undefined')]);
  });

  test.each(brokenDataTier)(
    'the rule %s reports a copy of %s in the cluster with a wrong value at %s',
    (rule, label, at, value, complaint) => {
      expect(rules[rule]!(withChangedField(inCluster, label, at, value)).join('\n')).toContain(complaint);
    },
  );

  test('kind: each service has one pod, and no document asks for an autoscaler, a budget or an Ingress', () => {
    const services = ofKind<{ spec: { replicas?: number } }>(kind, 'Deployment');
    expect(services.map(({ name, body }) => [name, body.spec.replicas])).toEqual(
      ['monolith', 'queue-service', 'email-worker', 'push-worker', 'loader', 'retention'].map((name) => [name, 1]),
    );
    expect(kind.filter((document) => /Autoscaler|Budget|Ingress/.test(document.kind))).toEqual([]);
  });
});

describe('the data tier in the cluster', () => {
  test('each pod of ours that connects to PostgreSQL mounts the certificate of its authority, and no other pod', () => {
    const connects = podLabels(inCluster).filter(({ labels }) => labels['tribina/connects-to-postgresql'] === 'true');
    const mounts = inCluster.filter(({ body }) => JSON.stringify(body).includes('"mountPath":"/etc/tribina/postgresql-ca"'));
    expect(mounts.map(({ name }) => name).sort()).toEqual(connects.map(({ name }) => name).sort());
    expect(mounts).toHaveLength(7);
  });

  /** The rows of the tables in docs/deployment.md: setting and value. */
  const rows = [...readText('docs/deployment.md').matchAll(/^\| `([\w-]+)` \| `?([\w-]+)`? \|/gm)];
  const documented = Object.fromEntries(rows.map(([, name = '', value = '']) => [name, value]));

  test('PostgreSQL has a primary and a replica, and the settings that docs/deployment.md names', () => {
    const [{ body } = { body: undefined }] = ofKind<ICluster>(inCluster, 'Cluster');
    const { parameters, synchronous } = body?.spec?.postgresql ?? {};
    expect(body?.spec?.instances).toBe(2);
    expect(synchronous).toEqual({ method: 'any', number: 1, dataDurability: 'preferred' });
    for (const name of ['max_pred_locks_per_page', 'max_pred_locks_per_relation'])
      expect(parameters?.[name]).toBe(documented[name]);
    expect(Number(parameters?.max_connections)).toBeGreaterThan(900);
    expect(body?.spec?.bootstrap?.initdb).toMatchObject({
      encoding: 'UTF8',
      localeProvider: 'builtin',
      builtinLocale: 'C.UTF-8',
    });
  });

  test('Redis has six nodes and the settings that docs/deployment.md names', () => {
    const files = inCluster.find(({ kind: of, name }) => of === 'ConfigMap' && name === 'redis')?.body.data as Record<
      string,
      string
    >;
    const config = files['redis.conf'] ?? '';
    const names = [
      'maxmemory-policy',
      'hash-max-listpack-value',
      'auto-aof-rewrite-min-size',
      'cluster-node-timeout',
      'min-replicas-to-write',
    ];
    for (const name of names) expect(config.split('\n')).toContain(`${name} ${documented[name]}`);
    expect(config).toContain('appendonly yes\nappendfsync everysec\n');
    expect(ofKind<{ spec: { replicas: number } }>(inCluster, 'StatefulSet').map(({ body }) => body.spec.replicas)).toEqual([6]);
  });
});

describe('autoscaling', () => {
  /** The autoscaler of the queue service as the specification of the project shows it. */
  const specified = {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'queue-service' },
    minReplicas: 3,
    maxReplicas: 20,
    metrics: [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
      {
        type: 'Pods',
        pods: { metric: { name: 'websocket_connections' }, target: { type: 'AverageValue', averageValue: '5000' } },
      },
    ],
  };
  const specs = new Map(
    ofKind<{ spec: typeof specified }>(production, 'HorizontalPodAutoscaler').map(({ name, body }) => [name, body.spec]),
  );

  /** Up at once, at most to double the number in 15 s; down by one pod in two minutes, when the load was low for ten minutes. */
  const behavior = {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [
        { type: 'Percent', value: 100, periodSeconds: 15 },
        { type: 'Pods', value: 4, periodSeconds: 15 },
      ],
    },
    scaleDown: { stabilizationWindowSeconds: 600, policies: [{ type: 'Pods', value: 1, periodSeconds: 120 }] },
  };

  test('the autoscaler of queue-service is exactly as specified, and scales up fast and down slowly', () => {
    expect(specs.get('queue-service')).toEqual({ ...specified, behavior });
  });

  test('KEDA scales queue-service in the same way as the autoscaler', () => {
    const [{ body } = { body: undefined }] = ofKind<IScaledObject>(withKeda, 'ScaledObject');
    const { minReplicaCount, maxReplicaCount, scaleTargetRef, advanced, triggers = [] } = body?.spec ?? {};
    expect({ minReplicas: minReplicaCount, maxReplicas: maxReplicaCount, scaleTargetRef }).toEqual({
      minReplicas: specified.minReplicas,
      maxReplicas: specified.maxReplicas,
      scaleTargetRef: specified.scaleTargetRef,
    });
    expect(advanced?.horizontalPodAutoscalerConfig?.behavior).toEqual(behavior);
    expect(triggers.map(({ type, metricType, metadata }) => [type, metricType, metadata.value ?? metadata.threshold])).toEqual([
      ['cpu', 'Utilization', '70'],
      ['prometheus', 'AverageValue', '5000'],
    ]);
  });

  test('the rule of prometheus-adapter and the query of KEDA read the metric that the queue service exports', () => {
    const [{ body } = { body: undefined }] = ofKind<{ data: Record<string, string> }>(monitoring, 'ConfigMap');
    const [config] = parseYaml('config.yaml', body?.data['config.yaml'] ?? '') as { rules?: Record<string, unknown>[] }[];
    expect(config).toEqual({
      rules: [
        {
          seriesQuery: 'websocket_connections{namespace!="",pod!=""}',
          resources: { overrides: { namespace: { resource: 'namespace' }, pod: { resource: 'pod' } } },
          name: { matches: '^websocket_connections$', as: 'websocket_connections' },
          metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)',
        },
      ],
    });
    expect(JSON.stringify(withKeda)).toContain('sum(websocket_connections{namespace=\\"tribina\\"})');
    expect(readText('apps/queue-service/src/waiting-room/inbound/waiting-room.metrics.ts')).toContain(
      "ofPod('websocket_connections',",
    );
  });

  test.each(['monolith', 'push-worker', 'loader'])('the autoscaler of %s scales at 70 %% CPU', (name) => {
    expect(specs.get(name)).toMatchObject({ metrics: [specified.metrics[0]], behavior });
  });
});

test('the Dockerfile, docker-compose.yml, k8s and docs/deployment.md name no package registry', () => {
  const files = [
    'Dockerfile',
    '.dockerignore',
    'docker-compose.yml',
    'docs/deployment.md',
    ...fs.readdirSync('k8s', { recursive: true, encoding: 'utf8' }).map((file) => `k8s/${file}`),
  ];
  const offenders = files.filter(
    (file) => fs.statSync(file).isFile() && /registry\.npmjs|npmmirror|deb\.debian\.org|yarnpkg/.test(readText(file)),
  );
  expect(offenders).toEqual([]);
});
