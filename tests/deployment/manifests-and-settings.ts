import fs from 'node:fs';
import { ConfigFaults, loadConfig } from '#platform/config/load-config';
import * as settingsSlices from '#platform/config/settings';
import type { ZodType } from 'zod';
import { monolithConfig } from '../../apps/monolith/src/config.ts';
import { workerConfig } from '../../apps/notification-worker/src/config.ts';
import { queueServiceConfig } from '../../apps/queue-service/src/config.ts';
import { renderKustomization } from './kustomize.ts';

/** The folders that are rendered below. */
export const renderedFolders: string[] = [];
/** The documents of these folders. Paths are relative to the project root, where Jest runs. */
function rendered(...folders: string[]) {
  renderedFolders.push(...folders);
  return folders.flatMap((folder) => renderKustomization(folder));
}

/** The Kubernetes documents in k8s/ without overlays. */
export const base = rendered('k8s/base', 'k8s/migrate', 'k8s/secrets');
/** The documents that a production deployment sends to Kubernetes, with the Secret templates. */
export const production = rendered('k8s/overlays/production', 'k8s/overlays/production/migrate', 'k8s/secrets');
/** The same with PostgreSQL, Redis and a job worker in the cluster. */
export const inCluster = rendered(
  'k8s/overlays/in-cluster',
  'k8s/overlays/in-cluster/migrate',
  'k8s/overlays/in-cluster/data',
  'k8s/secrets',
  'k8s/secrets/in-cluster',
);
/** The documents of a local cluster in development mode. */
export const kind = rendered('k8s/overlays/kind');
/** The rule of prometheus-adapter for the metric of the sockets. */
export const monitoring = rendered('k8s/monitoring');
/** The base with KEDA instead of the autoscaler of the queue service. */
export const withKeda = renderKustomization('k8s/components/keda', base);
renderedFolders.push('k8s/components/keda');
/** Every set of documents that somebody applies, by name. */
export const deployments = { base, production, 'in-cluster': inCluster, kind, keda: withKeda, monitoring };

/** The settings schema of each service. */
export const configs = { monolith: monolithConfig, 'queue-service': queueServiceConfig, 'notification-worker': workerConfig };

/** The faults for which an app would refuse to start with these settings. */
export function settingsFaults(app: keyof typeof configs, environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadConfig(configs[app], environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigFaults) return error.faults;
    throw error;
  }
}

/** The fields of all settings: of every service, and of groups of settings (slices) that no service reads yet. */
const settingFields = [...Object.values(configs), ...Object.values(settingsSlices)].flatMap((slice) =>
  typeof slice === 'object' && 'shape' in slice ? Object.entries(slice.shape as Record<string, ZodType>) : [],
);
/** The names of all settings. */
export const settings: ReadonlySet<string> = new Set(settingFields.map(([name]) => name));
/** The names of the settings with a secret value. */
export const secretSettings: ReadonlySet<string> = new Set(
  settingFields.filter(([, field]) => field.meta()?.secret === true).map(([name]) => name),
);
/** The port of each app. */
export const ports = { monolith: 3000, 'queue-service': 3001, 'notification-worker': 3002 };
/** The app of each Deployment and of each service in docker-compose.yml that has a port. */
export const apps = {
  monolith: 'monolith',
  'queue-service': 'queue-service',
  'email-worker': 'notification-worker',
  'push-worker': 'notification-worker',
} as const;
/** Minimum and maximum number of pods of each Deployment that is scaled. */
export const replicaBounds = {
  monolith: [5, 20],
  'queue-service': [3, 20],
  'push-worker': [2, 10],
  loader: [2, 8],
} as const;
/** Number of pods of each Deployment that is not scaled. */
export const fixedReplicas = { 'email-worker': 1, 'job-worker': 2, retention: 1 };
/** Long-running services that receive no requests. */
export const portlessServices: ReadonlySet<string> = new Set(['loader', 'job-worker', 'retention']);
/** Environment variables that Node and the C library read, so they are not settings of the project. */
export const runtimeVariables: ReadonlySet<string> = new Set(['NODE_OPTIONS', 'MALLOC_ARENA_MAX']);

/** Whether a file of the project exists. */
export const exists = (file: string) => fs.existsSync(file);
/** The text of a file of the project. */
export const readText = (file: string) => fs.readFileSync(file, 'utf8');

/** Seconds that a service may take after SIGTERM to finish its requests, read from its source. */
export const drainSeconds =
  Number(/DRAIN_TIMEOUT_MS = ([\d_]+)/.exec(readText('libs/platform/src/http/run-service.ts'))?.[1]?.replaceAll('_', '')) / 1000;
