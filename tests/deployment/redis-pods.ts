import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { redisBinaries, redisEnvironment } from '../../tools/local/redis-binaries.ts';
import { inCluster } from './manifests-and-settings.ts';
import { ofKind } from './kube-documents.ts';

/** A server that could not start has ended by itself. */
const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

const NODES = 6;
const PASSWORD = 'a-password';
/**
 * All pods have the same port, as in the cluster. It and the port of the cluster bus (port + 10,000) are below those that the system gives
 * to connections: one of them could be in use.
 */
const somePort = () => 12_000 + Math.floor(Math.random() * 10_000);

/**
 * Runs the scripts and the configuration of k8s/data/redis on this machine. A pod is a process with a loopback address of its own
 * (127.0.0.0/8, which only Linux has). Small programs replace the names of the cluster (`getent`) and give redis-server and redis-cli
 * the address of their pod; nothing else differs from a pod.
 */
export class RedisPods {
  private readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tribina-redis-pods-'));
  private readonly port = somePort();
  private readonly network = `127.${1 + Math.floor(Math.random() * 250)}.${Math.floor(Math.random() * 250)}`;
  private readonly running = new Map<number, ChildProcess>();
  private readonly addresses: string[] = [];
  private lastHost = 0;

  constructor() {
    this.writeFiles();
    const { server } = redisBinaries();
    const cli = path.join(path.dirname(server), path.basename(server).replace('server', 'cli'));
    fs.mkdirSync(path.join(this.folder, 'bin'));
    this.program('redis-server', `exec ${server} "$@" --bind "$POD_IP" --save ''`);
    const address = `host=$POD_IP; if [ "$1" = -h ]; then host=$(getent hosts "$2" | cut -d ' ' -f 1); shift 2; fi`;
    this.program('redis-cli', `${address}; exec ${cli} -p ${this.port} -h "$host" "$@"`);
    this.program('getent', `case "$2" in 127.*) echo "$2" ;; *) sed -n "s/ $2\\$/ $2/p" ${this.folder}/hosts ;; esac`);
  }

  /** Writes the files of the ConfigMap, each with a change. */
  writeFiles(change: (text: string) => string = (text) => text): void {
    const [files] = ofKind<{ data: Record<string, string> }>(inCluster, 'ConfigMap').filter(({ name }) => name === 'redis');
    for (const [name, text] of Object.entries(files?.body.data ?? {})) {
      const here = text.replaceAll('6379', String(this.port)).replaceAll('/etc/redis', this.folder);
      fs.writeFileSync(path.join(this.folder, name), change(here.replaceAll('/data', '.')));
    }
  }

  /** Starts pods with new addresses; a pod that had run before keeps its data. */
  start(ordinals: readonly number[] = Array.from({ length: NODES }, (_, ordinal) => ordinal)): void {
    for (const ordinal of ordinals) this.addresses[ordinal] = `${this.network}.${(this.lastHost += 1)}`;
    const hosts = this.addresses.map((address, ordinal) => `${address} redis-${ordinal}.redis\n`);
    fs.writeFileSync(path.join(this.folder, 'hosts'), hosts.join(''));
    for (const ordinal of ordinals) {
      const data = path.join(this.folder, `data-${ordinal}`);
      fs.mkdirSync(data, { recursive: true });
      const options = { cwd: data, env: this.environment(ordinal), stdio: 'ignore', detached: true } as const;
      this.running.set(ordinal, spawn('sh', [path.join(this.folder, 'start.sh')], options));
    }
  }

  /** Ends pods, with `SIGKILL` like a lost machine, and waits until they have ended. */
  async end(signal: NodeJS.Signals, ordinals: readonly number[] = [...this.running.keys()]): Promise<void> {
    await Promise.all(
      ordinals.map(async (ordinal) => {
        const pod = this.running.get(ordinal);
        this.running.delete(ordinal);
        if (!pod?.pid || hasEnded(pod)) return;
        const ended = once(pod, 'exit');
        // A node that writes its first append-only file ignores SIGTERM.
        while (!hasEnded(pod)) {
          process.kill(-pod.pid, signal);
          await Promise.race([ended, sleep(1000)]);
        }
      }),
    );
  }

  /** Runs a script of the ConfigMap in a pod. */
  script(name: string, ordinal = 0, ...args: string[]): { status: number | null; out: string } {
    return this.run(ordinal, '', 'sh', path.join(this.folder, name), ...args);
  }

  loseVolume(ordinal: number): void {
    fs.rmSync(path.join(this.folder, `data-${ordinal}`), { recursive: true });
  }

  /** Runs a command of Redis on one node and returns its answer. */
  redis(ordinal: number, ...command: string[]): string {
    return this.run(ordinal, '', 'redis-cli', ...command).out.trim();
  }

  /** Writes a key and waits until the replica of its master has it. Returns the two answers of Redis. */
  write(ordinal: number, key: string, value: string): string {
    return this.run(ordinal, `set ${key} ${value}\nwait 1 10000\n`, 'redis-cli', '-c').out.trim();
  }

  async remove(): Promise<void> {
    await this.end('SIGKILL');
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  private run(ordinal: number, input: string, command: string, ...args: string[]): { status: number | null; out: string } {
    const options = { env: this.environment(ordinal), encoding: 'utf8', input } as const;
    const { status, stdout, stderr } = spawnSync(command, args, options);
    return { status, out: stdout + stderr };
  }

  private environment(ordinal: number): NodeJS.ProcessEnv {
    const environment = redisEnvironment(redisBinaries());
    const PATH = `${path.join(this.folder, 'bin')}:${environment.PATH}`;
    return { ...environment, PATH, POD_IP: this.addresses[ordinal], REDISCLI_AUTH: PASSWORD };
  }

  private program(name: string, line: string): void {
    fs.writeFileSync(path.join(this.folder, 'bin', name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  }
}
