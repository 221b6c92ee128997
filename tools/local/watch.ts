import { spawn } from 'node:child_process';
import { npmBinary, hasWebApp, ROOT, VITE_ARGUMENTS } from './build.ts';
import { eachLine } from './service.ts';

/**
 * Watches the sources for `npm run dev`: the compiler and Vite keep dist/ up to date. After each compilation without errors the
 * services are restarted. After a compilation with errors the running services stay, because incomplete code would crash.
 */
export function watchSources(restart: () => Promise<void>, say: (line: string) => void): () => void {
  const options = { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] as ('ignore' | 'pipe')[] };
  const compiler = spawn(npmBinary('tsc'), ['-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput'], options);
  const bundler = hasWebApp() ? spawn(npmBinary('vite'), [...VITE_ARGUMENTS, '--watch'], options) : undefined;
  if (bundler) eachLine(bundler, (line) => say(`[web] ${line}`));

  let first = true;
  let pending: Promise<void> = Promise.resolve();
  eachLine(compiler, (line) => {
    if (line.trim() !== '') say(`[tsc] ${line}`);
    if (!line.includes('Found 0 errors')) return;
    if (first) first = false;
    else pending = pending.then(restart);
  });
  return () => {
    compiler.kill('SIGTERM');
    bundler?.kill('SIGTERM');
  };
}
