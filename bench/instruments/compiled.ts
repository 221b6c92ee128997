import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../tools/local/build.ts';

/**
 * A module of the services as it runs, from dist/: Node strips types but cannot compile decorators, and dist may not be there
 * yet when the benchmark begins. Its type is that of its source: `compiled<typeof import('../../apps/…/x.ts')>('apps/…/x')`.
 */
export function compiled<T>(module: string): Promise<T> {
  return import(pathToFileURL(path.join(ROOT, 'dist', `${module}.js`)).href) as Promise<T>;
}

export const MONOLITH = 'apps/monolith/src';
