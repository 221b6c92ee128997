import fs from 'node:fs';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { KubeDocument, Rule } from './kube-documents.ts';
import { ofKind } from './kube-documents.ts';

interface Pod {
  label: string;
  kind: Workload;
  name: string;
  spec: IPodSpec;
  container: IContainer;
}

type Workload = 'Deployment' | 'Job' | 'StatefulSet';

function podsOf(documents: readonly KubeDocument[], ...kinds: Workload[]): Pod[] {
  return kinds.flatMap((kind) =>
    ofKind<IDeployment | IJob | IStatefulSet>(documents, kind).map(({ label, name, body }) => {
      const spec = body.spec?.template.spec as IPodSpec;
      return { label, kind, name, spec, container: spec.containers[0] as IContainer };
    }),
  );
}

const allPods = (documents: readonly KubeDocument[]) => podsOf(documents, 'Deployment', 'Job', 'StatefulSet');
/** The pods that run our image. The others run PostgreSQL or Redis. */
const ownPods = (documents: readonly KubeDocument[]) =>
  allPods(documents).filter(({ container }) => /(^|\/)tribina[:@]/.test(container.image ?? ''));

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
 * dependencies, an outage of the database would restart healthy pods. A pod without a port is probed by a command, and the job worker
 * not at all, because it ends by itself.
 */
export const deploymentsAreProbed: Rule = (documents) =>
  podsOf(documents, 'Deployment').flatMap((pod) => {
    const { startupProbe, readinessProbe, livenessProbe, ports = [] } = pod.container;
    const probes = [startupProbe, readinessProbe, livenessProbe];
    // The rule portsAreTheDefaults checks existing ports.
    if (ports.length === 0) {
      const alive = /--alive-file,(\S+?)$/.exec(String(pod.container.command))?.[1];
      return violationsOf(pod, [
        [probes.every((probe) => !probe?.httpGet), 'is probed on a port that it does not have'],
        [
          alive ? probes.every((probe) => String(probe?.exec?.command).includes(` ${alive} `)) : probes.every((probe) => !probe),
          'is not probed by the file that it writes',
        ],
      ]);
    }
    const onItsPort = probes.every((probe) => ports.some((port) => port.name === probe?.httpGet?.port));
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
    podsOf(documents, 'Deployment', 'StatefulSet').flatMap((pod) => {
      const sleep = pod.container.lifecycle?.preStop?.sleep?.seconds ?? 0;
      const grace = pod.spec.terminationGracePeriodSeconds ?? 30;
      return violationsOf(pod, [
        [
          sleep >= 5 || !pod.container.ports || pod.kind === 'StatefulSet',
          'gets SIGTERM before Kubernetes stops sending requests to it (no preStop sleep)',
        ],
        [grace > sleep + drainSeconds, `is killed after ${grace} s; sleep and drain take ${sleep + drainSeconds} s`],
      ]);
    });

/** Rule: each command runs a file that the build produces, from the app of the Deployment or from the monolith's CLI. */
export const commandsExist =
  (apps: Readonly<Record<string, string>>, exists: (file: string) => boolean = (file) => fs.existsSync(file)): Rule =>
  (documents) =>
    ownPods(documents).flatMap((pod) => {
      const [node, flag, entry = ''] = pod.container.command ?? [];
      const source = entry.replace(/^dist\//, '').replace(/\.js$/, '.ts');
      return violationsOf(pod, [
        [node === 'node' && flag === '--enable-source-maps', 'is not started by node --enable-source-maps'],
        [entry.startsWith('dist/apps/') && exists(source), `runs ${entry}, and there is no ${source}`],
        [
          source === `apps/${apps[pod.name]}/src/main.ts` || source === 'apps/monolith/src/cli.ts',
          `runs ${entry}, which is not its own`,
        ],
      ]);
    });

/** Rule: each Deployment opens the default port of its app. */
export const portsAreTheDefaults =
  (apps: Readonly<Record<string, string>>, ports: Readonly<Record<string, number>>): Rule =>
  (documents) =>
    podsOf(documents, 'Deployment').flatMap((pod) => {
      const port = pod.container.ports?.map(({ containerPort }) => containerPort).join();
      return violationsOf(pod, [
        [
          String(port) === String(ports[apps[pod.name] ?? '']),
          `listens on ${port}; ${ports[apps[pod.name] ?? '']} is its default`,
        ],
      ]);
    });

/** Rule: all containers with our image run the same one, and every image has a version tag or a digest. */
export const allImagesAreEqual: Rule = (documents) => {
  const own = new Set(ownPods(documents).map((pod) => String(pod.container.image)));
  const all = new Set(allPods(documents).map((pod) => String(pod.container.image)));
  const untagged = [...all].filter((image) => !/:(?!latest$)[\w.-]+$|@sha256:[0-9a-f]{64}$/.test(image));
  return [
    ...(own.size > 1 ? [`more than one image: ${[...own].join(', ')}`] : []),
    ...untagged.map((image) => `${image}: has neither a version tag nor a digest`),
  ];
};
