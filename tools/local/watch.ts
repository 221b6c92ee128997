import { spawn } from 'node:child_process';
import path from 'node:path';
import { hasWebApp, npmBinary, publishWeb, ROOT } from './build.ts';
import { eachLine } from './run-command.ts';
import { viteArguments, viteEnvironment } from './web-app.ts';

/**
 * Watches the sources for `npm run dev`: the compiler and Vite keep dist/ up to date. After each compilation without errors the
 * services are restarted. After a compilation with errors the running services stay, because incomplete code would crash. The page
 * is replaced without a restart.
 */
export function watchSources(restart: () => Promise<void>, say: (line: string) => void): () => void {
  const options = { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] as ('ignore' | 'pipe')[] };
  const compiler = spawn(npmBinary('tsc'), ['-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput'], options);
  const built = path.join(ROOT, 'dist/web-watch');
  const bundler = hasWebApp()
    ? spawn(npmBinary('vite'), [...viteArguments(built), '--watch'], { ...options, env: viteEnvironment() })
    : undefined;
  if (bundler)
    eachLine(bundler, (line) => {
      say(`[web] ${line}`);
      if (line.includes('built in ')) publishIfComplete(built, say);
    });

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

/** Vite may already write the next build while we copy. Then files are missing, and the end of that build publishes it. */
function publishIfComplete(built: string, say: (line: string) => void): void {
  try {
    publishWeb(built);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    say('[web] the page has changed again while it was copied');
  }
}
