import fs from 'node:fs';
import * as settingsSlices from '#platform/config/settings';
import { rendered } from './kustomize.ts';

/** What the tests of this folder look at. Paths are relative to the project: Jest runs there. */
export const base = [...rendered('k8s/base'), ...rendered('k8s/migrate'), ...rendered('k8s/secrets')];
export const production = [
  ...rendered('k8s/overlays/production'),
  ...rendered('k8s/overlays/production/migrate'),
  ...rendered('k8s/secrets'),
];

/** Every setting there is: the names in the slices from which the services' configurations are made. */
export const settings: ReadonlySet<string> = new Set(
  Object.values(settingsSlices).flatMap((slice) =>
    typeof slice === 'object' && 'shape' in slice ? Object.keys(slice.shape) : [],
  ),
);
export const ports = { monolith: 3000, 'queue-service': 3001, 'notification-worker': 3002 };
export const bounds = { monolith: [5, 20], 'queue-service': [3, 20], 'notification-worker': [2, 10] } as const;

export const exists = (file: string) => fs.existsSync(file);
export const text = (file: string) => fs.readFileSync(file, 'utf8');

/** How long a service gives its own drain after SIGTERM. */
export const drainSeconds =
  Number(/DRAIN_LIMIT_MS = ([\d_]+)/.exec(text('libs/platform/src/http/run-service.ts'))?.[1]?.replaceAll('_', '')) / 1000;
