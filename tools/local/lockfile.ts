interface LockedPackage {
  resolved?: string;
  optionalDependencies?: Record<string, string>;
}

export interface Lockfile {
  packages: Record<string, LockedPackage>;
}

/**
 * Two faults that npm itself does not mind when it writes the file. An address in it ties everybody to the registry of whoever
 * ran `npm install`. And an optional package (the binaries for another platform) that the registry did not have that day is
 * silently left out, after which `npm ci` refuses the file everywhere else ("Missing: … from lock file").
 */
export function lockfileFaults({ packages }: Lockfile): string[] {
  const places = Object.keys(packages);
  const known = new Set(places.map((place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)));
  const faults: string[] = [];
  for (const [place, { resolved, optionalDependencies = {} }] of Object.entries(packages)) {
    if (resolved && !resolved.startsWith('file:')) faults.push(`${place} carries a download address (see .npmrc)`);
    for (const name of Object.keys(optionalDependencies)) {
      if (!known.has(name)) faults.push(`${place || 'package.json'} wants ${name} on some platform, and the lockfile lacks it`);
    }
  }
  return faults;
}
