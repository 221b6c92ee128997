import fs from 'node:fs';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { KubeDocument, Rule } from './kube-documents.ts';
import { ofKind } from './kube-documents.ts';

interface Pod {
  label: string;
  name: string;
  spec: IPodSpec;
  container: IContainer;
}

function podsOf(documents: readonly KubeDocument[], kind: 'Deployment' | 'Job'): Pod[] {
  return ofKind<IDeployment | IJob>(documents, kind).map(({ label, name, body }) => {
    const spec = body.spec?.template.spec as IPodSpec;
    return { label, name, spec, container: spec.containers[0] as IContainer };
  });
}

const allPods = (documents: readonly KubeDocument[]) => [...podsOf(documents, 'Deployment'), ...podsOf(documents, 'Job')];

/** The violations of one pod. Each rule is a pair: a condition that must be true, and the complaint if it is false. */
function violationsOf(pod: Pod, rules: [boolean, string][]): string[] {
  return rules.filter(([holds]) => !holds).map(([, complaint]) => `${pod.label}: ${complaint}`);
}

/** Rule: each pod runs as another user than root, with a read-only file system and without extra rights. */
export const podsAreLockedDown: Rule = (documents) =>
  allPods(documents).flatMap((pod) => {
    const { spec, container } = pod;
    return violationsOf(pod, [
      [spec.containers.length === 1 && !spec.initContainers, 'has not exactly one container'],
      [spec.automountServiceAccountToken === false, 'mounts a service account token'],
      [spec.enableServiceLinks === false, 'takes environment variables from Services, which collide with MONOLITH_PORT'],
      [
        spec.securityContext?.runAsNonRoot === true && (spec.securityContext.runAsUser ?? 0) > 0,
        'does not say that it runs as another user than root',
      ],
      [spec.securityContext?.seccompProfile?.type === 'RuntimeDefault', 'runs without the default seccomp profile'],
      [container.securityContext?.readOnlyRootFilesystem === true, 'may write to its root file system'],
      [container.securityContext?.allowPrivilegeEscalation === false, 'may gain privileges'],
      [
        String(container.securityContext?.capabilities?.drop) === 'ALL' && !container.securityContext?.capabilities?.add,
        'keeps capabilities',
      ],
      [container.volumeMounts?.some((mount) => mount.mountPath === '/tmp') === true, 'has no /tmp to write to'],
    ]);
  });

/** Rule: each container requests CPU and memory and has a memory limit. */
export const podsHaveResourceLimits: Rule = (documents) =>
  allPods(documents).flatMap((pod) => {
    const { requests, limits } = pod.container.resources ?? {};
    return violationsOf(pod, [
      [Boolean(requests?.cpu && requests.memory), 'requests no CPU or no memory'],
      [Boolean(limits?.memory), 'has no memory limit'],
    ]);
  });

/**
 * Rule: the liveness probe checks only the process, the readiness probe also its dependencies. If the liveness probe checked
 * dependencies, an outage of the database would restart healthy pods.
 */
export const deploymentsAreProbed: Rule = (documents) =>
  podsOf(documents, 'Deployment').flatMap((pod) => {
    const { startupProbe, readinessProbe, livenessProbe, ports = [] } = pod.container;
    // A service that receives no requests has no port, so it must have no probes. The rule portsAreTheDefaults checks existing ports.
    if (ports.length === 0)
      return violationsOf(pod, [
        [!startupProbe && !readinessProbe && !livenessProbe, 'is probed on a port that it does not have'],
      ]);
    const onItsPort = [startupProbe, readinessProbe, livenessProbe].every((probe) =>
      ports.some((port) => port.name === probe?.httpGet?.port),
    );
    return violationsOf(pod, [
      [startupProbe?.httpGet?.path === '/health/live', 'has no start-up probe on /health/live'],
      [readinessProbe?.httpGet?.path === '/health/ready', 'has no readiness probe on /health/ready'],
      [livenessProbe?.httpGet?.path === '/health/live', 'has no liveness probe on /health/live'],
      [onItsPort, 'is probed on a port that it does not have'],
    ]);
  });

/** Rule: requests in progress at SIGTERM can finish. Kubernetes waits longer than the preStop sleep and the drain together. */
export const deploymentsDrainInTime =
  (drainSeconds: number): Rule =>
  (documents) =>
    podsOf(documents, 'Deployment').flatMap((pod) => {
      const sleep = pod.container.lifecycle?.preStop?.sleep?.seconds ?? 0;
      const grace = pod.spec.terminationGracePeriodSeconds ?? 30;
      return violationsOf(pod, [
        [sleep >= 5 || !pod.container.ports, 'gets SIGTERM before Kubernetes stops sending requests to it (no preStop sleep)'],
        [grace > sleep + drainSeconds, `is killed after ${grace} s; sleep and drain take ${sleep + drainSeconds} s`],
      ]);
    });

/** Rule: each command runs a file that the build produces, from the app with the name of the Deployment or from the monolith's CLI. */
export const commandsExist =
  (exists: (file: string) => boolean = (file) => fs.existsSync(file)): Rule =>
  (documents) =>
    allPods(documents).flatMap((pod) => {
      const [node, flag, entry = ''] = pod.container.command ?? [];
      const source = entry.replace(/^dist\//, '').replace(/\.js$/, '.ts');
      return violationsOf(pod, [
        [node === 'node' && flag === '--enable-source-maps', 'is not started by node --enable-source-maps'],
        [entry.startsWith('dist/apps/') && exists(source), `runs ${entry}, and there is no ${source}`],
        [
          source === `apps/${pod.name}/src/main.ts` || source === 'apps/monolith/src/cli.ts',
          `runs ${entry}, which is not its own`,
        ],
      ]);
    });

/** Rule: each Deployment opens the default port of its service. */
export const portsAreTheDefaults =
  (ports: Readonly<Record<string, number>>): Rule =>
  (documents) =>
    podsOf(documents, 'Deployment').flatMap((pod) => {
      const port = pod.container.ports?.map(({ containerPort }) => containerPort).join();
      return violationsOf(pod, [
        [String(port) === String(ports[pod.name]), `listens on ${port}; ${ports[pod.name]} is its default`],
      ]);
    });

/** Rule: all containers run the same image, with a version tag or a digest. */
export const allImagesAreEqual: Rule = (documents) => {
  const images = new Set(allPods(documents).map((pod) => String(pod.container.image)));
  const untagged = [...images].filter((image) => !/:(?!latest$)[\w.-]+$|@sha256:[0-9a-f]{64}$/.test(image));
  return [
    ...(images.size > 1 ? [`more than one image: ${[...images].join(', ')}`] : []),
    ...untagged.map((image) => `${image}: has neither a version tag nor a digest`),
  ];
};
