import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { build, ROOT } from './build.ts';
import { type DatabaseUrls, startDatabases } from './databases.ts';
import { clearHome, endLeftovers, type HomePaths, writeRuntime } from './home.ts';
import { thisProcess } from './home-lock.ts';
import { inspectorArguments } from './inspector.ts';
import { ProcessRestarter, type RestarterEvents } from './process-restarter.ts';
import { checkMachine, claimHome } from './preflight.ts';
import { waitUntilAllReady, waitUntilLinesAreKnown } from './readiness.ts';
import { runCommand } from './run-command.ts';
import { startService } from './service.ts';
import { readSettings, type Settings } from './settings.ts';
import { BAD_SETTINGS, UserError } from './trouble.ts';
import { watchSources } from './watch.ts';

/** How `npm start` was called. */
export interface SystemOptions {
  reset: boolean;
  watch: boolean;
  /** The inspector's port of each service that a debugger may attach to. */
  inspectorPorts: ReadonlyMap<string, number>;
  say(line: string): void;
  /** Aborting this signal stops the system. */
  stop: AbortSignal;
}

const CLI = 'dist/apps/monolith/src/cli.js';

/** Starts everything, keeps it running until `stop` is aborted, and then stops it in order: services, Redis, PostgreSQL. */
export async function runSystem(options: SystemOptions): Promise<void> {
  const settings = readSettings(process.env, options.inspectorPorts);
  const { home, lock } = await claimHome(settings);
  try {
    await endLeftovers(home, options.say);
    await checkMachine(settings, home, options.say);
    await new System(settings, home, options).run();
  } finally {
    lock.release();
  }
}

/** The running system: databases, services, and their restarts. */
class System {
  readonly #settings: Settings;
  readonly #home: HomePaths;
  readonly #options: SystemOptions;
  readonly #databases: ProcessRestarter[] = [];
  readonly #services: ProcessRestarter[] = [];
  readonly #failure = new AbortController();
  /** Aborted when the system has to stop: on request, or because a service refuses its settings. */
  readonly #end: AbortSignal;
  #urls: DatabaseUrls | undefined;

  constructor(settings: Settings, home: HomePaths, options: SystemOptions) {
    this.#settings = settings;
    this.#home = home;
    this.#options = options;
    this.#end = AbortSignal.any([options.stop, this.#failure.signal]);
  }

  async run(): Promise<void> {
    let stopWatching = () => {};
    try {
      await this.#start();
      if (this.#options.watch) stopWatching = watchSources(() => this.#restartServices(), this.#options.say);
      if (!this.#end.aborted) await once(this.#end, 'abort');
    } catch (error) {
      if (!this.#end.aborted) throw error;
    } finally {
      stopWatching();
      await this.#stop();
    }
    this.#failure.signal.throwIfAborted();
  }

  async #start(): Promise<void> {
    const { say, reset } = this.#options;
    say(`starting Tribina in ${this.#home.folder}`);
    if (reset) this.#reset();
    const databases = startDatabases(this.#settings, this.#home, this.#databases, this.#events());
    // Waits for the databases and the build even if one of them fails, because a database that is still starting cannot be
    // stopped.
    const starting = [databases, build({ say, signal: this.#end })] as const;
    await Promise.allSettled(starting);
    [this.#urls] = await Promise.all(starting);
    this.#writeRuntime();
    say('migrating the database');
    // Only in our own server may the start create a user.
    await this.#command('migrate', ...(this.#settings.databaseUrl ? [] : ['--create-user']));
    say('checking for demo data');
    await this.#command('seed', '--if-empty');
    await this.#startServices();
    const { web, docs, queue, mailbox } = this.#settings.urls;
    say(`ready ${web} (page) · ${docs} (API) · ${queue} (queue) · ${mailbox} (mailbox) · Ctrl-C stops it`);
  }

  async #startServices(): Promise<void> {
    const { services } = this.#settings;
    this.#options.say('starting the services');
    for (const { name, inspectorPort } of services) {
      const args = [...inspectorArguments(inspectorPort), path.join(ROOT, 'dist/apps', name, 'src/main.js')];
      const start = () => startService(args, this.#commandOptions(name));
      this.#services.push(new ProcessRestarter(name, start, this.#events(name)));
    }
    const retention = [path.join(ROOT, CLI), 'retention:run'];
    const startRetention = () => startService(retention, this.#commandOptions('retention'));
    this.#services.push(new ProcessRestarter('retention', startRetention, this.#events('retention')));
    await Promise.all(this.#services.map((restarter) => restarter.start()));
    await waitUntilAllReady(services, this.#options.say, this.#end);
    await waitUntilLinesAreKnown(services, this.#end);
  }

  #events(service?: string): RestarterEvents {
    return {
      say: this.#options.say,
      changed: () => this.#writeRuntime(),
      shouldNotRestart: ({ code }) => {
        if (!service || code !== BAD_SETTINGS) return false;
        this.#failure.abort(new UserError(`The ${service} refuses its settings.`, 'The faults are printed above.', BAD_SETTINGS));
        return true;
      },
    };
  }

  async #command(...args: string[]): Promise<void> {
    const program = path.join(ROOT, CLI);
    const options = { ...this.#commandOptions(args[0]!), signal: this.#end };
    const { code } = await runCommand(process.execPath, ['--enable-source-maps', program, ...args], options);
    if (code === 0) return;
    throw new UserError(
      `\`${args.join(' ')}\` failed with exit code ${code}.`,
      'The reason is printed above.',
      code === BAD_SETTINGS ? code : 1,
    );
  }

  /** The options of a process that uses the databases. Each line of its output gets the prefix `name`. */
  #commandOptions(name: string) {
    const env = { ...this.#settings.environment, ...this.#urls };
    return {
      cwd: ROOT,
      // Only the migration and the retention job may be the owner of the schema.
      env: name === 'migrate' || name === 'retention' ? env : { ...env, DATABASE_MIGRATION_URL: undefined },
      onLine: (line: string) => this.#options.say(`[${name}] ${line}`),
    };
  }

  #reset(): void {
    if (this.#settings.databaseUrl || this.#settings.redisUrl)
      this.#options.say('--reset removes only the data of our own servers, not of those at DATABASE_URL and REDIS_URL');
    this.#options.say('--reset: removing the data of earlier runs');
    clearHome(this.#home);
  }

  async #restartServices(): Promise<void> {
    if (this.#end.aborted) return;
    this.#options.say('restarting the services');
    await Promise.all(this.#services.map((restarter) => restarter.restart()));
  }

  #writeRuntime(): void {
    if (!this.#urls) return;
    const running = [...this.#databases, ...this.#services].flatMap(({ name, identity }) =>
      identity ? [[name, identity] as const] : [],
    );
    const { urls, services } = this.#settings;
    writeRuntime(this.#home, {
      supervisor: thisProcess(),
      pids: Object.fromEntries([['supervisor', process.pid], ...running.map(([name, { pid }]) => [name, pid])]),
      urls: { ...urls, ...Object.fromEntries(services.map(({ name, url }) => [name, url])) },
      ...this.#urls,
      processes: Object.fromEntries(running),
    });
  }

  async #stop(): Promise<void> {
    this.#options.say('stopping the services');
    await Promise.allSettled(this.#services.map((restarter) => restarter.stop()));
    this.#options.say('stopping the databases');
    for (const name of ['redis', 'postgres'])
      await this.#databases
        .find((restarter) => restarter.name === name)
        ?.stop()
        .catch(() => undefined);
    rmSync(this.#home.runtime, { force: true });
    this.#options.say('stopped');
  }
}
