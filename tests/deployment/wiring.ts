import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { IIngress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IService } from 'kubernetes-models/v1/Service';
import type { KubeDocument, Rule } from './kube-documents.ts';
import { ofKind } from './kube-documents.ts';

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

const workloads = (documents: readonly KubeDocument[]) => [
  ...ofKind<IDeployment>(documents, 'Deployment'),
  ...ofKind<IJob>(documents, 'Job'),
];
const podLabels = (documents: readonly KubeDocument[]) =>
  workloads(documents).map(({ body }) => body.spec?.template.metadata?.labels ?? {});

/** Rule: every label value in a selector belongs to at least one pod. Kubernetes does not report a misspelt value that matches no pod. */
export const selectorsFindPods: Rule = (documents) => {
  const pods = podLabels(documents);
  const mismatches = ofKind<IDeployment>(documents, 'Deployment')
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
    ...ofKind<IDeployment>(documents, 'Deployment').flatMap(({ label, body }) =>
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

/** Rule: every Service and Ingress points to a port that exists. */
export const servicesReachPorts: Rule = (documents) => {
  const services = ofKind<IService>(documents, 'Service');
  const missingPorts = services.flatMap(({ label, body }) => {
    const targets = ofKind<IDeployment>(documents, 'Deployment').filter((workload) =>
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
        !services.some((service) => service.name === name && service.body.spec?.ports?.some((open) => open.name === port?.name)),
    )
    .map(({ label, name, port }) => `${label}: there is no Service ${name} with the port ${port?.name}`);
  return [...missingPorts, ...new Set(missingBackends)];
};

/** Rule: every Deployment has one autoscaler with these bounds and one disruption budget, and every autoscaler has a target. */
export const autoscalersHaveBounds =
  (bounds: Readonly<Record<string, readonly [number, number]>>): Rule =>
  (documents) => {
    const deployments = ofKind<IDeployment>(documents, 'Deployment');
    const scalers = ofKind<IHorizontalPodAutoscaler>(documents, 'HorizontalPodAutoscaler');
    const budgets = ofKind<IPodDisruptionBudget>(documents, 'PodDisruptionBudget');
    return [
      ...scalers
        .filter(
          ({ body }) =>
            !deployments.some(
              ({ name }) => body.spec?.scaleTargetRef.kind === 'Deployment' && body.spec.scaleTargetRef.name === name,
            ),
        )
        .map(({ label, body }) => `${label}: there is no ${body.spec?.scaleTargetRef.kind} ${body.spec?.scaleTargetRef.name}`),
      ...deployments.flatMap(({ label, name, body }) => {
        const spec = scalers.find((scaler) => scaler.body.spec?.scaleTargetRef.name === name)?.body.spec;
        const [min, max] = bounds[name] ?? [];
        const labels = body.spec?.template.metadata?.labels ?? {};
        return [
          ...(spec?.minReplicas === min && spec?.maxReplicas === max
            ? []
            : [`${label}: scales from ${spec?.minReplicas} to ${spec?.maxReplicas}, not ${min} to ${max}`]),
          ...(body.spec?.replicas === undefined || body.spec.replicas === min
            ? []
            : [`${label}: starts with ${body.spec.replicas} pods, below or above its minimum ${min}`]),
          ...(budgets.some((budget) => selectorMatches(budget.body.spec?.selector ?? {}, labels))
            ? []
            : [`${label}: has no PodDisruptionBudget`]),
        ];
      }),
    ];
  };

/** Rule: every ConfigMap and Secret that a pod uses exists, and a pod uses every ConfigMap and Secret. */
export const configMapsAndSecretsAreUsed: Rule = (documents) => {
  const existing = [...ofKind<IConfigMap>(documents, 'ConfigMap'), ...ofKind<ISecret>(documents, 'Secret')].map(
    ({ label }) => label,
  );
  const used = workloads(documents).flatMap(({ body }) => {
    const spec = body.spec?.template.spec;
    const sources = spec?.containers.flatMap((container) => container.envFrom ?? []) ?? [];
    return [
      ...sources.map((source) =>
        source.secretRef ? `Secret/${source.secretRef.name}` : `ConfigMap/${source.configMapRef?.name}`,
      ),
      ...(spec?.volumes ?? []).flatMap((volume) => (volume.secret ? [`Secret/${volume.secret.secretName}`] : [])),
      ...(spec?.volumes ?? []).flatMap((volume) => (volume.configMap ? [`ConfigMap/${volume.configMap.name}`] : [])),
    ];
  });
  return [
    ...[...new Set(used)]
      .filter((label) => !existing.includes(label))
      .map((label) => `${label}: a pod uses it and it does not exist`),
    ...existing.filter((label) => !used.includes(label)).map((label) => `${label}: no pod uses it`),
  ];
};

interface Variables {
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

/**
 * Rule: every variable in a ConfigMap or Secret is a known setting, because Kubernetes does not report a misspelt name. Names with a dot
 * or in lower case are files.
 */
export const variablesAreSettings =
  (settings: ReadonlySet<string>): Rule =>
  (documents) =>
    [...ofKind<Variables>(documents, 'ConfigMap'), ...ofKind<Variables>(documents, 'Secret')].flatMap(({ label, body }) =>
      Object.keys({ ...body.data, ...body.stringData })
        .filter((name) => /^[A-Z0-9_]+$/.test(name) && !settings.has(name))
        .map((name) => `${label}: ${name} is not a setting`),
    );

/** Rule: the Secret templates contain no values, because the repository is public. */
export const secretsAreEmpty: Rule = (documents) =>
  ofKind<Variables>(documents, 'Secret').flatMap(({ label, body }) =>
    Object.entries({ ...body.data, ...body.stringData })
      .filter(([, value]) => value !== '')
      .map(([name]) => `${label}: ${name} has a value, and this repository is public`),
  );
