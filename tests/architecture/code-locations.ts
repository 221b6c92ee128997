/** The part of the project that a file belongs to: a library, an app, an npm package or something else. */
export type Area =
  | 'domain'
  | 'application'
  | 'contracts'
  | 'platform'
  | 'messaging'
  | 'ticketing'
  | 'queue-client'
  | 'event-loader'
  | 'testing'
  | 'app'
  | 'package'
  | 'elsewhere';
/** The layer of a file, read from its folder or its file name. */
export type Layer = 'domain' | 'application' | 'inbound' | 'outbound' | 'api' | 'module' | 'tests' | 'other';

/** Where a file belongs: its area, app, context, feature and layer. */
export interface CodeLocation {
  readonly path: string;
  readonly area: Area;
  readonly app?: string;
  /** Folder directly below `src`: a context, or another folder such as `cli`. Absent for files in `src` itself. */
  readonly context?: string;
  /** Folder below the context that has its own layers, such as `hold` in `purchase`. */
  readonly feature?: string;
  readonly layer: Layer;
}

function layerOf(pathInSrc: string): Layer {
  if (/(^|\/)testing\/|\.(test|contract)\.tsx?$/.test(pathInSrc)) return 'tests';
  const folder = /(^|\/)(domain|application|inbound|outbound)\//.exec(pathInSrc)?.[2];
  if (folder) return folder as Layer;
  return (/\.(api|module)\.ts$/.exec(pathInSrc)?.[1] as Layer | undefined) ?? 'other';
}

/** The location of a file, read only from its path, so that tests can ask about files that do not exist. */
export function locationOf(path: string): CodeLocation {
  if (path.startsWith('package:')) return { path, area: 'package', layer: 'other' };
  const [, library, pathInLibrary = ''] =
    /^libs\/(domain|application|contracts|platform|messaging|ticketing|queue-client|event-loader|testing)\/src\/(.+)$/.exec(
      path,
    ) ?? [];
  if (library) {
    const [, context] = /^([^/]+)\//.exec(pathInLibrary) ?? [];
    return { path, area: library as Area, ...(context ? { context } : {}), layer: layerOf(pathInLibrary) };
  }
  const [, app, pathInApp = ''] = /^apps\/([^/]+)\/src\/(.+)$/.exec(path) ?? [];
  if (!app) return { path, area: 'elsewhere', layer: 'other' };
  const [, context] = /^([^/]+)\//.exec(pathInApp) ?? [];
  const [, feature] = /^[^/]+\/(?!(?:domain|application|inbound|outbound|testing)\/)([^/]+)\//.exec(pathInApp) ?? [];
  return { path, area: 'app', app, ...(context ? { context } : {}), ...(feature ? { feature } : {}), layer: layerOf(pathInApp) };
}
