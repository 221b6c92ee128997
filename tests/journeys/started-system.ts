import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** A running `npm start` on free ports and with its own TRIBINA_HOME, like on a new machine. */
export interface StartedSystem {
  readonly publicUrl: string;
  readonly queueUrl: string;
  readonly workerUrl: string;
  /** All text that `npm start` has printed so far. */
  output(): string;
  /** Runs a command of `npm run cli` on this system. */
  cli(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Stops the system and starts it again with the same TRIBINA_HOME and ports. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  return port;
}

/** Runs `npm start` and waits for its ready line. */
export async function startSystem(settings: Record<string, string> = {}): Promise<StartedSystem> {
  const home = mkdtempSync(path.join(tmpdir(), 'tribina-journey-'));
  const [monolith, queue, worker] = [await freePort(), await freePort(), await freePort()];
  const env = {
    ...process.env,
    DATABASE_URL: '',
    REDIS_URL: '',
    TRIBINA_HOME: home,
    MONOLITH_PORT: String(monolith),
    QUEUE_PORT: String(queue),
    WORKER_PORT: String(worker),
    ...settings,
  };
  let text = '';
  const run = async (): Promise<ChildProcess> => {
    const child = spawn('node', ['tools/node24.mjs', 'tools/start.ts'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const isReady = new Promise<void>((resolve, reject) => {
      const onOutput = (data: Buffer): void => {
        text += data.toString();
        if (/^ready /m.test(text)) resolve();
      };
      child.stdout.on('data', onOutput);
      child.stderr.on('data', onOutput);
      child.once('exit', (code) => reject(new Error(`npm start exited with ${code}:\n${text}`)));
    });
    await isReady;
    return child;
  };
  let child = await run();
  const end = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.removeAllListeners('exit');
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  };
  return {
    publicUrl: `http://127.0.0.1:${monolith}`,
    queueUrl: `http://127.0.0.1:${queue}`,
    workerUrl: `http://127.0.0.1:${worker}`,
    output: () => text,
    cli: async (...args) => {
      const command = spawn('node', ['tools/node24.mjs', 'tools/cli.ts', ...args], { cwd: root, env });
      let [stdout, stderr] = ['', ''];
      command.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
      command.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
      const [code] = (await once(command, 'close')) as [number];
      return { code, stdout, stderr };
    },
    restart: async () => {
      await end();
      text = '';
      child = await run();
    },
    stop: async () => {
      await end();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
