import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../tools/local/build.ts';

/**
 * Imports a compiled module of the services from dist/: Node strips types but cannot compile decorators. A dynamic import, because
 * dist may not exist yet when the benchmark starts. Its type comes from the source file:
 * `importCompiled<typeof import('../../apps/…/x.ts')>('apps/…/x')`.
 */
export function importCompiled<T>(module: string): Promise<T> {
  return import(pathToFileURL(path.join(ROOT, 'dist', `${module}.js`)).href) as Promise<T>;
}

/** The sources of the monolith, as the first part of a name for importCompiled. */
export const MONOLITH = 'apps/monolith/src';
