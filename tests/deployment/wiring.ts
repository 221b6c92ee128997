import type { ICluster } from '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1/Cluster';
import type { IScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { IIngress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IService } from 'kubernetes-models/v1/Service';
import type { KubeDocument, Rule } from './kube-documents.ts';
import { labelOf, ofKind } from './kube-documents.ts';

type Labels = Readonly<Record<string, string>>;
/** A Kubernetes label selector: chooses pods or namespaces by their labels. */
export interface LabelSelector {
  matchLabels?: Record<string, string> | undefined;
  matchExpressions?: { key: string; operator: string; values?: string[] | undefined }[] | undefined;
}

/** Whether a Kubernetes label selector matches the labels. Supports only the operator `In`, the one that we use. */
export function selectorMatches({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => operator === 'In' && values.includes(labels[key] ?? ''))
  );
}

const services = (documents: readonly KubeDocument[]) => [
  ...ofKind<IDeployment>(documents, 'Deployment'),
  ...ofKind<IStatefulSet>(documents, 'StatefulSet'),
];
const workloads = (documents: readonly KubeDocument[]) => [...services(documents), ...ofKind<IJob>(documents, 'Job')];
/** The labels of all pods, by the name of the document that makes them. The pods of PostgreSQL get theirs from its operator. */
export const podLabels = (documents: readonly KubeDocument[]): { name: string; labels: Labels }[] => [
  ...workloads(documents).map(({ name, body }) => ({ name, labels: body.spec?.template.metadata?.labels ?? {} })),
  ...ofKind<ICluster>(documents, 'Cluster').map(({ name }) => ({
    name,
    labels: { 'app.kubernetes.io/name': 'postgresql', 'cnpg.io/cluster': name },
  })),
];

/** Rule: every label value in a selector belongs to at least one pod. Kubernetes does not report a misspelt value that matches no pod. */
export const selectorsFindPods: Rule = (documents) => {
  const pods = podLabels(documents).map(({ labels }) => labels);
  const mismatches = services(documents)
    .filter(({ body }) => !selectorMatches(body.spec?.selector ?? {}, body.spec?.template.metadata?.labels ?? {}))
    .map(({ label }) => `${label}: its selector does not match its own pods`);
  const selectors: [string, LabelSelector][] = [
    ...ofKind<IService>(documents, 'Service').map(({ label, body }): [string, LabelSelector] => [
      label,
      { matchLabels: body.spec?.selector },
    ]),
    ...ofKind<IPodDisruptionBudget>(documents, 'PodDisruptionBudget').map(({ label, body }): [string, LabelSelector] => [
      label,
      body.spec?.selector ?? {},
    ]),
    ...ofKind<INetworkPolicy>(documents, 'NetworkPolicy').flatMap(({ label, body }) =>
      [
        body.spec?.podSelector ?? {},
        ...(body.spec?.ingress ?? []).flatMap((rule) => (rule.from ?? []).flatMap((peer) => peer.podSelector ?? [])),
        ...(body.spec?.egress ?? []).flatMap((rule) =>
          (rule.to ?? []).flatMap((peer) => (peer.namespaceSelector ? [] : (peer.podSelector ?? []))),
        ),
      ].map((selector): [string, LabelSelector] => [label, selector]),
    ),
    ...services(documents).flatMap(({ label, body }) =>
      (body.spec?.template.spec?.topologySpreadConstraints ?? []).map((constraint): [string, LabelSelector] => [
        label,
        constraint.labelSelector ?? {},
      ]),
    ),
  ];
  const singleConditions = ({ matchLabels, matchExpressions = [] }: LabelSelector): LabelSelector[] => [
    { matchLabels },
    ...matchExpressions.flatMap(({ key, operator, values = [] }) =>
      values.map((value) => ({ matchExpressions: [{ key, operator, values: [value] }] })),
    ),
  ];
  const unmatched = selectors.flatMap(([label, selector]) =>
    singleConditions(selector)
      .filter((part) => !pods.some((labels) => selectorMatches(part, labels)))
      .map((part) => `${label}: no pod matches ${JSON.stringify(part)}`),
  );
  return [...mismatches, ...unmatched];
};

/** Rule: every document is in a namespace of ours. Without one it would be made in the namespace of whoever applies it. */
export const documentsHaveNamespaces =
  (namespaces: readonly string[]): Rule =>
  (documents) =>
    documents
      .filter(({ kind }) => kind !== 'Namespace')
      .filter(({ body }) => !namespaces.includes(String((body.metadata as { namespace?: string }).namespace)))
      .map((document) => `${labelOf(document)}: is in no namespace of ours`);

/** Rule: every Service and Ingress points to a port that exists. */
export const servicesReachPorts: Rule = (documents) => {
  const kubeServices = ofKind<IService>(documents, 'Service');
  const missingPorts = kubeServices.flatMap(({ label, body }) => {
    const targets = services(documents).filter((workload) =>
      selectorMatches({ matchLabels: body.spec?.selector }, workload.body.spec?.template.metadata?.labels ?? {}),
    );
    const ports = targets.flatMap(
      (workload) => workload.body.spec?.template.spec?.containers.flatMap((container) => container.ports ?? []) ?? [],
    );
    return (body.spec?.ports ?? [])
      .filter(({ targetPort }) => !ports.some((port) => port.name === targetPort || port.containerPort === targetPort))
      .map(({ targetPort }) => `${label}: its pods have no port ${targetPort}`);
  });
  const backends = ofKind<IIngress>(documents, 'Ingress').flatMap(({ label, body }) =>
    (body.spec?.rules ?? []).flatMap((rule) => (rule.http?.paths ?? []).map(({ backend }) => ({ label, ...backend.service }))),
  );
  const missingBackends = backends
    .filter(
      ({ name, port }) =>
        !kubeServices.some(
          (service) => service.name === name && service.body.spec?.ports?.some((open) => open.name === port?.name),
        ),
    )
    .map(({ label, name, port }) => `${label}: there is no Service ${name} with the port ${port?.name}`);
  return [...missingPorts, ...new Set(missingBackends)];
};

/** The number of pods of each Deployment: from minimum to maximum if it is scaled, else fixed. */
export interface ReplicaNumbers {
  readonly scaled: Readonly<Record<string, readonly [number, number]>>;
  readonly fixed: Readonly<Record<string, number>>;
}

/** Minimum and maximum of what scales this Deployment: Kubernetes's autoscaler or KEDA's. Undefined if there is none, or both. */
function scalerOf(documents: readonly KubeDocument[], deployment: string): readonly [number?, number?] | undefined {
  const all = [
    ...ofKind<IHorizontalPodAutoscaler>(documents, 'HorizontalPodAutoscaler').map(
      ({ body }) => [body.spec?.scaleTargetRef, body.spec?.minReplicas, body.spec?.maxReplicas] as const,
    ),
    ...ofKind<IScaledObject>(documents, 'ScaledObject').map(
      ({ body }) => [body.spec?.scaleTargetRef, body.spec?.minReplicaCount, body.spec?.maxReplicaCount] as const,
    ),
  ].filter(([target]) => target?.kind === 'Deployment' && target.name === deployment);
  return all.length === 1 ? [all[0]?.[1] ?? undefined, all[0]?.[2] ?? undefined] : undefined;
}

/** Rule: every Deployment has these numbers of pods and one disruption budget, and every autoscaler has a target. */
export const autoscalersHaveBounds =
  ({ scaled, fixed }: ReplicaNumbers): Rule =>
  (documents) => {
    const deployments = ofKind<IDeployment>(documents, 'Deployment');
    const scalers = [
      ...ofKind<IHorizontalPodAutoscaler>(documents, 'HorizontalPodAutoscaler'),
      ...ofKind<IScaledObject>(documents, 'ScaledObject'),
    ];
    const budgets = ofKind<IPodDisruptionBudget>(documents, 'PodDisruptionBudget');
    return [
      ...scalers
        .map(({ label, body }) => ({ label, target: body.spec?.scaleTargetRef }))
        .filter(({ target }) => !deployments.some(({ name }) => target?.kind === 'Deployment' && target.name === name))
        .map(({ label, target }) => `${label}: there is no ${target?.kind} ${target?.name}`),
      ...deployments.flatMap(({ label, name, body }) => {
        const found = scalerOf(documents, name);
        const wanted = scaled[name];
        const start = wanted?.[0] ?? fixed[name];
        const labels = body.spec?.template.metadata?.labels ?? {};
        return [
          ...(String(found) === String(wanted)
            ? []
            : [`${label}: scales from ${found?.join(' to ')}, not ${wanted?.join(' to ')}`]),
          ...(start !== undefined && (body.spec?.replicas ?? start) === start
            ? []
            : [`${label}: starts with ${body.spec?.replicas} pods, not ${start}`]),
          ...(budgets.some((budget) => selectorMatches(budget.body.spec?.selector ?? {}, labels))
            ? []
            : [`${label}: has no PodDisruptionBudget`]),
        ];
      }),
    ];
  };

/** The Secrets that an operator makes in the cluster. */
const MADE_BY_OPERATORS: ReadonlySet<string> = new Set(['Secret/postgresql-ca']);

function secretsOfClusters(documents: readonly KubeDocument[]): string[] {
  return ofKind<ICluster>(documents, 'Cluster').flatMap(({ body }) => [
    `Secret/${body.spec?.bootstrap?.initdb?.secret?.name}`,
    ...(body.spec?.managed?.roles ?? []).map((role) => `Secret/${role.passwordSecret?.name}`),
  ]);
}

/** Rule: every ConfigMap and Secret that a pod uses exists, and a pod uses every ConfigMap and Secret. */
export const configMapsAndSecretsAreUsed: Rule = (documents) => {
  const existing = [...ofKind<IConfigMap>(documents, 'ConfigMap'), ...ofKind<ISecret>(documents, 'Secret')].map(
    ({ label }) => label,
  );
  const usedByPods = workloads(documents).flatMap(({ body }) => {
    const spec = body.spec?.template.spec;
    const sources = spec?.containers.flatMap((container) => container.envFrom ?? []) ?? [];
    const variables = spec?.containers.flatMap((container) => container.env ?? []) ?? [];
    return [
      ...variables.flatMap(({ valueFrom }) => (valueFrom?.secretKeyRef ? [`Secret/${valueFrom.secretKeyRef.name}`] : [])),
      ...sources.map((source) =>
        source.secretRef ? `Secret/${source.secretRef.name}` : `ConfigMap/${source.configMapRef?.name}`,
      ),
      ...(spec?.volumes ?? []).flatMap((volume) => (volume.secret ? [`Secret/${volume.secret.secretName}`] : [])),
      ...(spec?.volumes ?? []).flatMap((volume) => (volume.configMap ? [`ConfigMap/${volume.configMap.name}`] : [])),
    ];
  });
  const used = [...usedByPods, ...secretsOfClusters(documents)];
  return [
    ...[...new Set(used)]
      .filter((label) => !existing.includes(label) && !MADE_BY_OPERATORS.has(label))
      .map((label) => `${label}: a pod uses it and it does not exist`),
    ...existing.filter((label) => !used.includes(label)).map((label) => `${label}: no pod uses it`),
  ];
};

interface Variables {
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

/** The variables of all ConfigMaps and Secrets, and those that pods with our image set themselves: label, name and value. */
function variables(documents: readonly KubeDocument[], ...kinds: ('ConfigMap' | 'Secret' | 'pod')[]): [string, string, string][] {
  const documented = kinds
    .filter((kind) => kind !== 'pod')
    .flatMap((kind) => ofKind<Variables>(documents, kind))
    .flatMap(({ label, body }) =>
      Object.entries({ ...body.data, ...body.stringData }).map(([name, value]): [string, string, string] => [label, name, value]),
    );
  const ownContainers = workloads(documents)
    .flatMap(({ label, body }) => (body.spec?.template.spec?.containers ?? []).map((container) => ({ label, container })))
    .filter(({ container }) => /(^|\/)tribina[:@]/.test(container.image ?? ''));
  const inPods = ownContainers.flatMap(({ label, container }) =>
    (container.env ?? []).map(({ name, value }): [string, string, string] => [label, name, value ?? '']),
  );
  return [...documented, ...(kinds.includes('pod') ? inPods : [])];
}

/**
 * Rule: every variable of our pods is a known setting, because Kubernetes does not report a misspelt name. Names with a dot or in lower
 * case are files.
 */
export const variablesAreSettings =
  (settings: ReadonlySet<string>): Rule =>
  (documents) =>
    variables(documents, 'ConfigMap', 'Secret', 'pod')
      .filter(([, name]) => /^[A-Z0-9_]+$/.test(name) && !settings.has(name))
      .map(([label, name]) => `${label}: ${name} is not a setting`);

/** Rule: the values of secret settings come from Secrets. Everybody who may read pods may read a ConfigMap. */
export const secretsAreInSecrets =
  (secretSettings: ReadonlySet<string>): Rule =>
  (documents) =>
    variables(documents, 'ConfigMap', 'pod')
      .filter(([, name]) => secretSettings.has(name))
      .map(([label, name]) => `${label}: ${name} is secret and not in a Secret`);

/** Rule: the Secret templates contain no values but user names, because the repository is public. */
export const secretsAreEmpty: Rule = (documents) =>
  variables(documents, 'Secret')
    .filter(([, name, value]) => value !== '' && name !== 'username')
    .map(([label, name]) => `${label}: ${name} has a value, and this repository is public`);
