import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { waitForLock } from './home-lock.ts';
import { runCommand } from './run-command.ts';
import { Trouble } from './trouble.ts';

export const ROOT = path.resolve(import.meta.dirname, '../..');
const WEB_OUTPUT = path.join(ROOT, 'dist/web');
/** Beside the output, not in it: what lies in dist/web is served to everybody. */
const WEB_STAMP = path.join(ROOT, 'dist/.web-stamp');
/** Everything the page is made of: a change in any of it, and nothing else, makes Vite run (2–4 s). */
const WEB_INPUTS = ['apps/web', 'libs/contracts/src', 'libs/queue-client/src', 'package.json', 'package-lock.json'];

export const VITE_ARGUMENTS = ['build', 'apps/web', '--outDir', WEB_OUTPUT, '--emptyOutDir'];

export interface BuildOptions {
  say(line: string): void;
  serverOnly?: boolean;
  signal?: AbortSignal;
}

/** The servers into dist/apps and dist/libs, the page into dist/web. */
export async function build({ say, serverOnly = false, signal }: BuildOptions): Promise<void> {
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  const lock = await waitForLock(path.join(ROOT, 'dist/.build-lock'), ({ pid }) =>
    say(`waiting for the build of process ${pid}`),
  );
  try {
    await buildServers(say, signal);
    if (!serverOnly) await buildWeb(say, signal);
  } finally {
    lock.release();
  }
}

export function bin(name: string): string {
  return path.join(ROOT, 'node_modules/.bin', name);
}

export function hasWebApp(): boolean {
  return existsSync(path.join(ROOT, 'apps/web/index.html'));
}

async function buildServers(say: (line: string) => void, signal?: AbortSignal): Promise<void> {
  say('building the services');
  await runOrThrow('tsc', ['-p', 'tsconfig.build.json'], 'The services do not compile', signal);
}

async function buildWeb(say: (line: string) => void, signal?: AbortSignal): Promise<void> {
  if (!hasWebApp()) return say('no web app here yet, nothing to build');
  const stamp = hashOf(WEB_INPUTS);
  if (existsSync(WEB_OUTPUT) && existsSync(WEB_STAMP) && readFileSync(WEB_STAMP, 'utf8') === stamp)
    return say('the web app is up to date');
  say('building the web app');
  rmSync(WEB_STAMP, { force: true });
  await runOrThrow('vite', VITE_ARGUMENTS, 'The web app does not build', signal);
  writeFileSync(WEB_STAMP, stamp);
}

async function runOrThrow(tool: string, args: string[], failure: string, signal?: AbortSignal): Promise<void> {
  const { code, output } = await runCommand(bin(tool), args, { cwd: ROOT, signal });
  if (code === 0) return;
  if (code === 127)
    throw new Trouble(`\`${tool}\` is not installed.`, 'Run `npm ci` (with its dev dependencies: they do the building).');
  throw new Trouble(`${failure}:\n${output}\n`, `Mend that, or go back to a version that does.`);
}

/** Over names and contents: dates change with every checkout. */
function hashOf(inputs: string[]): string {
  const hash = createHash('sha256');
  for (const input of inputs) {
    const place = path.join(ROOT, input);
    if (!existsSync(place)) continue;
    const files = statSync(place).isDirectory() ? filesIn(place) : [place];
    for (const file of files) hash.update(path.relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}
