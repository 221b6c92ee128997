import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../../tools/local/build.ts';

const CLI = path.join(ROOT, 'dist/apps/monolith/src/cli.js');
const LEAVE_WITH_PARENT = path.join(ROOT, 'bench/instruments/leave-with-parent.mjs');

export interface LoaderEnvironment {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** LOADER_SOURCES. */
  readonly sourcesFile: string;
}

/** `cli loader:run` as it is deployed, in a process of its own, that can be killed and frozen: by its pid, never by a name. */
export class LoaderProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<number | null>;
  readonly #startedAt = performance.now();
  stderr = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#gone = new Promise((resolve) => child.once('exit', resolve));
    child.stderr?.on('data', (bytes: Buffer) => (this.stderr = (this.stderr + bytes.toString()).slice(-5000)));
  }

  static start({ databaseUrl, redisUrl, sourcesFile }: LoaderEnvironment, ...args: string[]): LoaderProcess {
    const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, LOADER_SOURCES: sourcesFile };
    const child = fork(CLI, ['loader:run', ...args], {
      env,
      execArgv: ['--enable-source-maps', '--import', LEAVE_WITH_PARENT],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    return new LoaderProcess(child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get ageMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Its exit code; null when it was killed. */
  get gone(): Promise<number | null> {
    return this.#gone;
  }

  signal(signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  /** It is told to go, and goes at once if it does not. */
  async stop(patienceMs = 20_000): Promise<number | null> {
    this.signal('SIGCONT');
    this.signal('SIGTERM');
    const insist = setTimeout(() => this.signal('SIGKILL'), patienceMs);
    return this.#gone.finally(() => clearTimeout(insist));
  }
}

/** `cli migrate` on an empty database. */
export async function migrateDatabase(databaseUrl: string): Promise<void> {
  const child = fork(CLI, ['migrate'], {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error('the database could not be migrated; the reason stands above');
}
