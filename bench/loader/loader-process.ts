import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../../tools/local/build.ts';

const CLI = path.join(ROOT, 'dist/apps/monolith/src/cli.js');
const EXIT_WITH_PARENT = path.join(ROOT, 'bench/instruments/leave-with-parent.mjs');

/** The servers and the sources file that a loader process uses. */
export interface LoaderEnvironment {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Path of the JSON file that lists the event sources. The loader gets it in LOADER_SOURCES. */
  readonly sourcesFile: string;
}

/** A loader (`cli loader:run`) in its own process, started like in production. Tests kill and freeze it by its pid, never by name. */
export class LoaderProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  readonly #startedAt = performance.now();
  stderr = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once('exit', resolve));
    child.stderr?.on('data', (bytes: Buffer) => (this.stderr = (this.stderr + bytes.toString()).slice(-5000)));
  }

  static start({ databaseUrl, redisUrl, sourcesFile }: LoaderEnvironment, ...args: string[]): LoaderProcess {
    const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, LOADER_SOURCES: sourcesFile };
    const child = fork(CLI, ['loader:run', ...args], {
      env,
      execArgv: ['--enable-source-maps', '--import', EXIT_WITH_PARENT],
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

  /** Resolves to the exit code of the process; null if it was killed. */
  get exited(): Promise<number | null> {
    return this.#exited;
  }

  signal(signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  /** Stops the loader with SIGTERM, and with SIGKILL after the timeout. Resolves to the exit code. */
  async stop(timeoutMs = 20_000): Promise<number | null> {
    this.signal('SIGCONT');
    this.signal('SIGTERM');
    const killTimer = setTimeout(() => this.signal('SIGKILL'), timeoutMs);
    return this.#exited.finally(() => clearTimeout(killTimer));
  }
}

/** Runs `cli migrate` on an empty database. */
export async function migrateDatabase(databaseUrl: string): Promise<void> {
  const child = fork(CLI, ['migrate'], {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error('the database could not be migrated; see the error output above');
}
