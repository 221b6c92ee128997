// Tells Jest which files a file depends on, for --findRelatedTests, --onlyChanged and --changedSince. Jest's own extractor is not
// enough: Jest resolves `#platform/ids` for these options to dist, because it does not know our `source` condition there, and it
// sees no file that is read instead of imported.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const { imports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** The imports of a file, `#…` names as paths of sources, and the Lua scripts in `lua/` beside a file that reads `….lua`. */
export function extract(content, filePath, defaultExtract) {
  const dependencies = [...defaultExtract(content)].map(sourceOf);
  if (/\.lua['"`]/.test(content)) dependencies.push(...scriptsBeside(filePath));
  return new Set(dependencies);
}

/** Jest caches the dependencies of each file under this key. Change it when this file changes. */
export const getCacheKey = () => `1 ${JSON.stringify(imports)}`;

function sourceOf(specifier) {
  const [name, rest] = specifier.split(/\/(.*)/);
  const source = imports[`${name}/*`]?.source;
  return source ? path.join(root, source.replace('*', rest)) : specifier;
}

function scriptsBeside(filePath) {
  const folder = path.join(path.dirname(filePath), 'lua');
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.lua'));
  return files.map((file) => path.join(folder, file));
}
