import fs from 'node:fs';
import path from 'node:path';

let root: string | undefined;

/**
 * Returns the path of a file below the folder of package.json. Compiled code in dist uses this function, too: SQL and Lua files
 * are read from the source tree.
 */
export function projectFile(...segments: string[]): string {
  if (!root) {
    let folder = import.meta.dirname;
    while (!fs.existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder);
    root = folder;
  }
  return path.join(root, ...segments);
}

/** The version of the project, for the API descriptions. */
export function projectVersion(): string {
  return (JSON.parse(fs.readFileSync(projectFile('package.json'), 'utf8')) as { version: string }).version;
}
