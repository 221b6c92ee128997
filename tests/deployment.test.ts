import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as settingsSlices from '#platform/config/settings';
import { brokenCopies } from './deployment/broken-copies.ts';
import {
  base,
  drainSeconds,
  exists,
  ports,
  production,
  readText,
  replicaBounds,
  settings,
} from './deployment/manifests-and-settings.ts';
import type { Rule } from './deployment/kube-documents.ts';
import { withChangedField, ofKind, parseYaml, withoutDocument } from './deployment/kube-documents.ts';
import { schemaViolations } from './deployment/kube-schemas.ts';
import { kustomizationViolations, renderKustomization } from './deployment/kustomize.ts';
import * as wiring from './deployment/wiring.ts';
import * as workloads from './deployment/workloads.ts';

test('the ports in manifests-and-settings.ts are the default values of the port settings', () => {
  const defaults = settingsSlices.addressSettings.parse({});
  expect([defaults.MONOLITH_PORT, defaults.QUEUE_PORT, defaults.WORKER_PORT]).toEqual(Object.values(ports));
});

test('the drain limit of a service is longer than the request deadline', () => {
  expect(drainSeconds).toBeGreaterThan(settingsSlices.requestLimitSettings.parse({}).REQUEST_DEADLINE_MS / 1000);
});

describe('kubernetes schemas', () => {
  test.each([
    ['base', base],
    ['production', production],
  ])('every document of %s is valid by the schema of its kind', async (_name, documents) => {
    expect((await Promise.all(documents.map(schemaViolations))).flat()).toEqual([]);
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

  test('production: no Deployment sets replicas, and all five containers use the image of this version', () => {
    const deployments = ofKind<{ spec: { replicas?: number } }>(production, 'Deployment');
    expect(deployments.map(({ body }) => body.spec.replicas)).toEqual([undefined, undefined, undefined, undefined]);
    const { version } = JSON.parse(readText('package.json')) as { version: string };
    expect(JSON.stringify(base).match(/"image":"[^"]+"/g)).toEqual(Array(5).fill(`"image":"tribina:${version}"`));
    expect(JSON.stringify(production).match(/"image":"[^"]+"/g)).toEqual(
      Array(5).fill(`"image":"registry.example/tribina:${version}"`),
    );
  });
});

const rules: Record<string, Rule> = {
  podsAreLockedDown: workloads.podsAreLockedDown,
  podsHaveResourceLimits: workloads.podsHaveResourceLimits,
  deploymentsAreProbed: workloads.deploymentsAreProbed,
  deploymentsDrainInTime: workloads.deploymentsDrainInTime(drainSeconds),
  commandsExist: workloads.commandsExist(exists),
  portsAreTheDefaults: workloads.portsAreTheDefaults(ports),
  allImagesAreEqual: workloads.allImagesAreEqual,
  selectorsFindPods: wiring.selectorsFindPods,
  servicesReachPorts: wiring.servicesReachPorts,
  autoscalersHaveBounds: wiring.autoscalersHaveBounds(replicaBounds),
  configMapsAndSecretsAreUsed: wiring.configMapsAndSecretsAreUsed,
  variablesAreSettings: wiring.variablesAreSettings(settings),
  secretsAreEmpty: wiring.secretsAreEmpty,
};

describe('rules', () => {
  test.each(Object.entries(rules))('%s: base and production have no violation', (_name, rule) => {
    expect([...rule(base), ...rule(production)]).toEqual([]);
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

  test('the autoscaler of queue-service is exactly as specified', () => {
    expect(specs.get('queue-service')).toEqual(specified);
  });

  test.each(['monolith', 'notification-worker', 'loader'])('the autoscaler of %s scales at 70 %% CPU', (name) => {
    expect(specs.get(name)?.metrics).toEqual([specified.metrics[0]]);
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
