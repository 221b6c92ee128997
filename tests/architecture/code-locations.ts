export type Area =
  | 'domain'
  | 'application'
  | 'contracts'
  | 'platform'
  | 'queue-client'
  | 'event-loader'
  | 'testing'
  | 'app'
  | 'package'
  | 'elsewhere';
export type Layer = 'domain' | 'application' | 'inbound' | 'outbound' | 'api' | 'module' | 'sql' | 'tests' | 'other';

/** Which room of the house a file stands in. */
export interface CodeLocation {
  readonly path: string;
  readonly area: Area;
  readonly app?: string;
  /** Folder below `src`: a context, or a room of an app's own such as `cli`. Absent at the root. */
  readonly context?: string;
  /** Folder below the context that has rooms of its own, such as `hold` in `purchase`. */
  readonly feature?: string;
  readonly layer: Layer;
}

function layerOf(rest: string): Layer {
  if (/(^|\/)testing\/|\.(test|contract)\.tsx?$/.test(rest)) return 'tests';
  const folder = /(^|\/)(domain|application|inbound|outbound)\//.exec(rest)?.[2];
  if (folder) return folder as Layer;
  return (/\.(api|module|sql)\.ts$/.exec(rest)?.[1] as Layer | undefined) ?? 'other';
}

/** Pure: from the path alone, so that canaries need no files. */
export function locationOf(path: string): CodeLocation {
  if (path.startsWith('package:')) return { path, area: 'package', layer: 'other' };
  const [, library, inLibrary = ''] =
    /^libs\/(domain|application|contracts|platform|queue-client|event-loader|testing)\/src\/(.+)$/.exec(path) ?? [];
  if (library) {
    const [, context] = /^([^/]+)\//.exec(inLibrary) ?? [];
    return { path, area: library as Area, ...(context ? { context } : {}), layer: layerOf(inLibrary) };
  }
  const [, app, rest = ''] = /^apps\/([^/]+)\/src\/(.+)$/.exec(path) ?? [];
  if (!app) return { path, area: 'elsewhere', layer: 'other' };
  const [, context] = /^([^/]+)\//.exec(rest) ?? [];
  const [, feature] = /^[^/]+\/(?!(?:domain|application|inbound|outbound|testing)\/)([^/]+)\//.exec(rest) ?? [];
  return { path, area: 'app', app, ...(context ? { context } : {}), ...(feature ? { feature } : {}), layer: layerOf(rest) };
}
