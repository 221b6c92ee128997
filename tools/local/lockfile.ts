/** The part of package-lock.json that is checked. */
export interface Lockfile {
  packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>;
}

/**
 * Finds two faults that npm accepts when it writes the lockfile. First, a download address forces everyone to use the registry of
 * the person who ran `npm install`. Second, npm silently omits an optional package (the binaries for another platform) that the
 * registry did not have at that time; then `npm ci` refuses the lockfile on other machines ("Missing: … from lock file").
 */
export function lockfileFaults({ packages }: Lockfile): string[] {
  const locations = Object.keys(packages);
  const known = new Set(
    locations.map((location) => location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length)),
  );
  const faults: string[] = [];
  for (const [location, { resolved, optionalDependencies = {} }] of Object.entries(packages)) {
    if (resolved && !resolved.startsWith('file:')) faults.push(`${location} has a download address (see .npmrc)`);
    for (const name of Object.keys(optionalDependencies)) {
      if (!known.has(name))
        faults.push(`${location || 'package.json'} needs ${name} on some platform, but the lockfile does not contain it`);
    }
  }
  return faults;
}
