import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { waitForLock } from './home-lock.ts';
import { readText } from './optional-file.ts';
import { type CommandOptions, runCommand } from './run-command.ts';
import { UserError } from './trouble.ts';
import { filesIn, publishWebApp, viteArguments, viteEnvironment, WEB_FOLDER } from './web-app.ts';

/** The root folder of the repository. */
export const ROOT = path.resolve(import.meta.dirname, '../..');
const WEB_OUTPUT = path.join(ROOT, WEB_FOLDER);
/**
 * The file with a hash of the inputs of the last build of the web app. It is not in dist/web, because every file of that folder
 * is served to browsers.
 */
const WEB_STAMP = path.join(ROOT, 'dist/.web-stamp');
/** The inputs of the web app's build. Vite (2–4 s) runs only if one of them has changed. */
const WEB_INPUTS = [
  'apps/web',
  'tools/local/web-app.ts',
  'libs/contracts/src',
  'libs/queue-client/src',
  'package.json',
  'package-lock.json',
];

/** What to build, and where to print progress. */
export interface BuildOptions {
  say(line: string): void;
  serverOnly?: boolean;
  signal?: AbortSignal;
}

/** Builds the services into dist/apps and dist/libs, and the web app into dist/web. */
export async function build({ say, serverOnly = false, signal }: BuildOptions): Promise<void> {
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  const lock = await waitForLock(path.join(ROOT, 'dist/.build-lock'), ({ pid }) =>
    say(`waiting for the build of process ${pid}`),
  );
  try {
    say('building the services');
    await runOrThrow('tsc', ['-p', 'tsconfig.build.json'], 'The services do not compile', { signal });
    if (!serverOnly) await buildWeb(say, signal);
  } finally {
    lock.release();
  }
}

/** The path of a program that `npm ci` installed. */
export function npmBinary(name: string): string {
  return path.join(ROOT, 'node_modules/.bin', name);
}

async function buildWeb(say: (line: string) => void, signal?: AbortSignal): Promise<void> {
  if (!hasWebApp()) return say('there is no web app in this checkout, nothing to build');
  const stamp = hashOf(WEB_INPUTS);
  if (existsSync(WEB_OUTPUT) && readText(WEB_STAMP) === stamp) return say('the web app is up to date');
  say('building the web app');
  const built = path.join(ROOT, 'dist/web-build');
  await runOrThrow('vite', viteArguments(built), 'The web app does not build', { signal, env: viteEnvironment() });
  publishWeb(built);
  rmSync(built, { recursive: true });
  writeFileSync(WEB_STAMP, stamp);
}

/** True if the sources of the web app are present. */
export function hasWebApp(): boolean {
  return existsSync(path.join(ROOT, 'apps/web/index.html'));
}

/** Serves a build of the web app from now on. The next `build` does not know its sources, so it builds again. */
export function publishWeb(built: string): void {
  rmSync(WEB_STAMP, { force: true });
  publishWebApp(built, WEB_OUTPUT);
}

async function runOrThrow(tool: string, args: string[], failure: string, options: Omit<CommandOptions, 'cwd'>): Promise<void> {
  const { code, output } = await runCommand(npmBinary(tool), args, { cwd: ROOT, ...options });
  if (code === 0) return;
  if (code === 127)
    throw new UserError(`\`${tool}\` is not installed.`, 'Run `npm ci` (with dev dependencies: they contain the build tools).');
  throw new UserError(`${failure}:\n${output}\n`, 'Fix these errors, or check out a version that builds.');
}

/** A hash over file names and contents. File dates are not included, because they change with every checkout. */
function hashOf(inputs: string[]): string {
  const hash = createHash('sha256');
  for (const input of inputs) {
    const location = path.join(ROOT, input);
    const files = statSync(location).isDirectory() ? filesIn(location).map((file) => path.join(input, file)) : [input];
    for (const file of files)
      hash
        .update(`${file}\0`)
        .update(readFileSync(path.join(ROOT, file)))
        .update('\0');
  }
  return hash.digest('hex');
}
