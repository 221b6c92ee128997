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

/** The violations of one pod: each pair is what must hold and what to say when it does not. */
function unless(pod: Pod, rules: [boolean, string][]): string[] {
  return rules.filter(([holds]) => !holds).map(([, complaint]) => `${pod.label}: ${complaint}`);
}

export const podsAreLockedDown: Rule = (documents) =>
  allPods(documents).flatMap((pod) => {
    const { spec, container } = pod;
    return unless(pod, [
      [spec.containers.length === 1 && !spec.initContainers, 'has one container'],
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

export const podsSayWhatTheyNeed: Rule = (documents) =>
  allPods(documents).flatMap((pod) => {
    const { requests, limits } = pod.container.resources ?? {};
    return unless(pod, [
      [Boolean(requests?.cpu && requests.memory), 'requests no CPU or no memory'],
      [Boolean(limits?.memory), 'has no memory limit'],
    ]);
  });

/** Live asks the process only, ready what it depends on. The other way round, a database that is away restarts healthy pods. */
export const deploymentsAreProbed: Rule = (documents) =>
  podsOf(documents, 'Deployment').flatMap((pod) => {
    const { startupProbe, readinessProbe, livenessProbe, ports = [] } = pod.container;
    // Whom nobody calls has no port to be probed on; that the others have theirs is portsAreTheDefaults' business.
    if (ports.length === 0)
      return unless(pod, [[!startupProbe && !readinessProbe && !livenessProbe, 'is probed on a port that it does not have']]);
    const onItsPort = [startupProbe, readinessProbe, livenessProbe].every((probe) =>
      ports.some((port) => port.name === probe?.httpGet?.port),
    );
    return unless(pod, [
      [startupProbe?.httpGet?.path === '/health/live', 'has no start-up probe on /health/live'],
      [readinessProbe?.httpGet?.path === '/health/ready', 'has no readiness probe on /health/ready'],
      [livenessProbe?.httpGet?.path === '/health/live', 'has no liveness probe on /health/live'],
      [onItsPort, 'is probed on a port that it does not have'],
    ]);
  });

/** What is under way when SIGTERM comes may be finished: Kubernetes waits longer than the preStop sleep and the drain together. */
export const deploymentsDrain =
  (drainSeconds: number): Rule =>
  (documents) =>
    podsOf(documents, 'Deployment').flatMap((pod) => {
      const sleep = pod.container.lifecycle?.preStop?.sleep?.seconds ?? 0;
      const grace = pod.spec.terminationGracePeriodSeconds ?? 30;
      return unless(pod, [
        [sleep >= 5 || !pod.container.ports, 'gets SIGTERM before it has left the endpoints (no preStop sleep)'],
        [grace > sleep + drainSeconds, `is killed after ${grace} s; sleep and drain take ${sleep + drainSeconds} s`],
      ]);
    });

/** dist/apps/<app>/src/main.js is built from apps/<app>/src/main.ts; a Deployment runs the app of its own name. */
export const commandsExist =
  (exists: (file: string) => boolean = (file) => fs.existsSync(file)): Rule =>
  (documents) =>
    allPods(documents).flatMap((pod) => {
      const [node, flag, entry = ''] = pod.container.command ?? [];
      const source = entry.replace(/^dist\//, '').replace(/\.js$/, '.ts');
      return unless(pod, [
        [node === 'node' && flag === '--enable-source-maps', 'is not started by node --enable-source-maps'],
        [entry.startsWith('dist/apps/') && exists(source), `runs ${entry}, and there is no ${source}`],
        [
          source === `apps/${pod.name}/src/main.ts` || source === 'apps/monolith/src/cli.ts',
          `runs ${entry}, which is not its own`,
        ],
      ]);
    });

export const portsAreTheDefaults =
  (ports: Readonly<Record<string, number>>): Rule =>
  (documents) =>
    podsOf(documents, 'Deployment').flatMap((pod) => {
      const port = pod.container.ports?.map(({ containerPort }) => containerPort).join();
      return unless(pod, [[String(port) === String(ports[pod.name]), `listens on ${port}; ${ports[pod.name]} is its default`]]);
    });

export const imagesAreOneRelease: Rule = (documents) => {
  const images = new Set(allPods(documents).map((pod) => String(pod.container.image)));
  const untagged = [...images].filter((image) => !/:(?!latest$)[\w.-]+$|@sha256:[0-9a-f]{64}$/.test(image));
  return [
    ...(images.size > 1 ? [`more than one image: ${[...images].join(', ')}`] : []),
    ...untagged.map((image) => `${image}: says neither which version nor which digest`),
  ];
};
