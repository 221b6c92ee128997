import fs from 'node:fs';
import * as settingsSlices from '#platform/config/settings';
import { monolithConfig } from '../../apps/monolith/src/config.ts';
import { workerConfig } from '../../apps/notification-worker/src/config.ts';
import { queueServiceConfig } from '../../apps/queue-service/src/config.ts';
import { renderKustomization } from './kustomize.ts';

/** The Kubernetes documents in k8s/ without overlays. Paths are relative to the project root, where Jest runs. */
export const base = [
  ...renderKustomization('k8s/base'),
  ...renderKustomization('k8s/migrate'),
  ...renderKustomization('k8s/secrets'),
];
/** The documents that a production deployment sends to Kubernetes, with the Secret templates. */
export const production = [
  ...renderKustomization('k8s/overlays/production'),
  ...renderKustomization('k8s/overlays/production/migrate'),
  ...renderKustomization('k8s/secrets'),
];

/** The settings schema of each service. */
export const configs = { monolith: monolithConfig, 'queue-service': queueServiceConfig, 'notification-worker': workerConfig };

/** The names of all settings: of every service, and of groups of settings (slices) that no service reads yet. */
export const settings: ReadonlySet<string> = new Set(
  [...Object.values(configs), ...Object.values(settingsSlices)].flatMap((slice) =>
    typeof slice === 'object' && 'shape' in slice ? Object.keys(slice.shape) : [],
  ),
);
/** The port of each service that receives requests. */
export const ports = { monolith: 3000, 'queue-service': 3001, 'notification-worker': 3002 };
/** Minimum and maximum number of pods of each Deployment. */
export const replicaBounds = {
  monolith: [5, 20],
  'queue-service': [3, 20],
  'notification-worker': [2, 10],
  loader: [2, 8],
} as const;
/** Long-running services that receive no requests. */
export const portlessServices: ReadonlySet<string> = new Set(['loader']);

/** Whether a file of the project exists. */
export const exists = (file: string) => fs.existsSync(file);
/** The text of a file of the project. */
export const readText = (file: string) => fs.readFileSync(file, 'utf8');

/** Seconds that a service may take after SIGTERM to finish its requests, read from its source. */
export const drainSeconds =
  Number(/DRAIN_TIMEOUT_MS = ([\d_]+)/.exec(readText('libs/platform/src/http/run-service.ts'))?.[1]?.replaceAll('_', '')) / 1000;
