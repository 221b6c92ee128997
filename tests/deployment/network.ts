import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { IIngress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { KubeDocument } from './kube-documents.ts';
import { ofKind } from './kube-documents.ts';
import type { LabelSelector } from './wiring.ts';
import { podLabels, selectorMatches } from './wiring.ts';

/** One end of a connection: one of our pods, a pod of another namespace, or an address outside the cluster. */
export type Party = { pod: string } | { namespace: string; labels?: Record<string, string> } | { address: string };

interface Peer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
}
interface PolicyRule {
  peers: Peer[];
  ports: { port?: number | string }[];
}

const asNumber = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

function contains(cidr: string, address: string): boolean {
  const [base = '', bits = '32'] = cidr.split('/');
  const size = 2 ** (32 - Number(bits));
  return Math.floor(asNumber(base) / size) === Math.floor(asNumber(address) / size);
}

type Labels = Readonly<Record<string, string>>;

/** Whether the party is this peer. `labels` are those of the party's pod. */
function matches({ podSelector, namespaceSelector, ipBlock }: Peer, party: Party, labels: Labels): boolean {
  // A rule without peers is for everybody.
  if (!podSelector && !namespaceSelector && !ipBlock) return true;
  if ('address' in party)
    return (
      ipBlock !== undefined &&
      contains(ipBlock.cidr, party.address) &&
      !(ipBlock.except ?? []).some((cidr) => contains(cidr, party.address))
    );
  if (ipBlock) return false;
  const namespace = 'pod' in party ? 'tribina' : party.namespace;
  const rightNamespace = namespaceSelector
    ? selectorMatches(namespaceSelector, { 'kubernetes.io/metadata.name': namespace })
    : 'pod' in party;
  return rightNamespace && selectorMatches(podSelector ?? {}, labels);
}

function labelsOf(documents: readonly KubeDocument[], party: Party): Labels {
  if (!('pod' in party)) return 'labels' in party ? (party.labels ?? {}) : {};
  const found = podLabels(documents).find(({ name }) => name === party.pod);
  if (!found) throw new Error(`there is no pod ${party.pod}`);
  return found.labels;
}

function allowed(
  documents: readonly KubeDocument[],
  direction: 'Ingress' | 'Egress',
  pod: string,
  other: Party,
  port: number,
  portNames: Map<string, number>,
): boolean {
  const policies = ofKind<INetworkPolicy>(documents, 'NetworkPolicy').filter(
    ({ body }) =>
      body.spec?.policyTypes?.includes(direction) && selectorMatches(body.spec.podSelector ?? {}, labelsOf(documents, { pod })),
  );
  // Kubernetes: a pod without a policy may do everything. A pod with policies may do what at least one of them allows.
  if (policies.length === 0) return true;
  const rules = policies.flatMap(({ body }): PolicyRule[] =>
    direction === 'Ingress'
      ? (body.spec?.ingress ?? []).map((rule) => ({ peers: (rule.from ?? [{}]) as Peer[], ports: rule.ports ?? [] }))
      : (body.spec?.egress ?? []).map((rule) => ({ peers: (rule.to ?? [{}]) as Peer[], ports: rule.ports ?? [] })),
  );
  const labels = labelsOf(documents, other);
  const opens = (rule: PolicyRule) =>
    rule.ports.length === 0 ||
    rule.ports.some((open) => (typeof open.port === 'string' ? portNames.get(open.port) : open.port) === port);
  return rules.some((rule) => rule.peers.some((peer) => matches(peer, other, labels)) && opens(rule));
}

/** Whether the NetworkPolicies let `from` connect to `to`: egress of `from` and ingress of `to` must both allow it. */
export function mayConnect(documents: readonly KubeDocument[], from: Party, to: Party, port: number): boolean {
  const services = [...ofKind<IDeployment>(documents, 'Deployment'), ...ofKind<IStatefulSet>(documents, 'StatefulSet')];
  const target = 'pod' in to ? services.find(({ name }) => name === to.pod) : undefined;
  const ports = target?.body.spec?.template.spec?.containers.flatMap((container) => container.ports ?? []) ?? [];
  const names = new Map(ports.map((open) => [open.name ?? '', open.containerPort]));
  const mayLeave = !('pod' in from) || allowed(documents, 'Egress', from.pod, to, port, names);
  const mayEnter = !('pod' in to) || allowed(documents, 'Ingress', to.pod, from, port, names);
  return mayLeave && mayEnter;
}

/**
 * The Service that receives a request of this host and path, or undefined. Like nginx, it compares the path after resolving dots and
 * percent-encoding. Regular expressions ignore case, as in the less strict of the two common nginx ingress controllers.
 */
export function routedService(documents: readonly KubeDocument[], host: string, path: string): string | undefined {
  const decoded = decodeURIComponent(new URL(path, 'http://host').pathname).replace(/\/+/g, '/');
  const paths = ofKind<IIngress>(documents, 'Ingress').flatMap(({ body }) =>
    (body.spec?.rules ?? []).filter((rule) => rule.host === host).flatMap((rule) => rule.http?.paths ?? []),
  );
  const matchingPath = paths.find(({ path: pattern = '/', pathType }) => {
    if (pathType === 'Exact') return decoded === pattern;
    if (pathType === 'Prefix') return decoded === pattern || decoded.startsWith(pattern.endsWith('/') ? pattern : `${pattern}/`);
    return new RegExp(`^${pattern}`, 'i').test(decoded);
  });
  return matchingPath?.backend.service?.name;
}
