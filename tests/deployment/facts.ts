import fs from 'node:fs';
import * as settingsSlices from '#platform/config/settings';
import { monolithConfig } from '../../apps/monolith/src/config.ts';
import { workerConfig } from '../../apps/notification-worker/src/config.ts';
import { queueServiceConfig } from '../../apps/queue-service/src/config.ts';
import { rendered } from './kustomize.ts';

/** What the tests of this folder look at. Paths are relative to the project: Jest runs there. */
export const base = [...rendered('k8s/base'), ...rendered('k8s/migrate'), ...rendered('k8s/secrets')];
export const production = [
  ...rendered('k8s/overlays/production'),
  ...rendered('k8s/overlays/production/migrate'),
  ...rendered('k8s/secrets'),
];

/** What each service reads from its environment. */
export const configs = { monolith: monolithConfig, 'queue-service': queueServiceConfig, 'notification-worker': workerConfig };

/** Every setting there is: what a service reads, and the slices that wait for a reader. */
export const settings: ReadonlySet<string> = new Set(
  [...Object.values(configs), ...Object.values(settingsSlices)].flatMap((slice) =>
    typeof slice === 'object' && 'shape' in slice ? Object.keys(slice.shape) : [],
  ),
);
export const ports = { monolith: 3000, 'queue-service': 3001, 'notification-worker': 3002 };
export const bounds = { monolith: [5, 20], 'queue-service': [3, 20], 'notification-worker': [2, 10], loader: [2, 8] } as const;
/** Run for ever without being called. */
export const portless: ReadonlySet<string> = new Set(['loader']);

export const exists = (file: string) => fs.existsSync(file);
export const text = (file: string) => fs.readFileSync(file, 'utf8');

/** How long a service gives its own drain after SIGTERM. */
export const drainSeconds =
  Number(/DRAIN_LIMIT_MS = ([\d_]+)/.exec(text('libs/platform/src/http/run-service.ts'))?.[1]?.replaceAll('_', '')) / 1000;
