import fs from 'node:fs';
import { projectFile } from '#platform/project-root';
import { RedisScript } from '#platform/redis/script';

const FOLDER = ['apps', 'queue-service', 'src', 'waiting-room', 'outbound', 'lua'];
/** The files of shared Lua functions in lua/parts. The order matters: a part uses functions of the parts before it. */
const PARTS = 'match-keys match-state rfc3339 announce queue-state presence endings closing settings entries devices'.split(' ');

function read(...segments: string[]): string {
  return fs.readFileSync(projectFile(...FOLDER, ...segments), 'utf8');
}

/** Reads all scripts of the folder lua/, by file name. Lua in Redis has no include, so all parts are put in front of each script. */
export function loadLineScripts(): ReadonlyMap<string, RedisScript> {
  const parts = PARTS.map((part) => read('parts', `${part}.lua`));
  const files = fs.readdirSync(projectFile(...FOLDER)).filter((name) => name.endsWith('.lua'));
  return new Map(files.map((file) => [file.slice(0, -'.lua'.length), new RedisScript([...parts, read(file)].join('\n'))]));
}
