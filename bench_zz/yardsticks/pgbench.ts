// The yardstick of everything that commits to PostgreSQL: how many plain transactions of three statements the same server
// does in the same minute. `-N` leaves out the two updates on which all clients would wait for each other.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type CpuMeter, childrenCpuMicros, readCpu } from '../instruments/cpu.ts';
import { quantile } from '../instruments/quantiles.ts';
import type { PgbenchBinary } from './pgbench-binary.ts';

const CLIENTS = 64;
const SCALE = 20;
/** One in five transactions is written down: enough for a p99 of some thousands, and the log costs nothing that shows. */
const SAMPLED = 0.2;

export interface PgbenchResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Per transaction; undefined where there is no /proc. */
  readonly cpuMicros: { readonly client: number; readonly database: number } | undefined;
}

/** The server it runs against. */
export interface Pgbench {
  readonly binary: PgbenchBinary;
  readonly databaseUrl: string;
  readonly meter: CpuMeter;
}

/** Two million accounts, about 300 MB. */
export async function preparePgbench(bench: Pgbench): Promise<void> {
  await pgbench(bench, ['-i', '-q', '-s', String(SCALE)]);
}

export async function runPgbench(bench: Pgbench, seconds: number): Promise<PgbenchResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tribina-pgbench-'));
  try {
    const before = { client: childrenCpuMicros(), database: readCpu(bench.meter).database };
    const load = ['-N', '-n', '-c', String(CLIENTS), '-j', '2', '-M', 'prepared', '-T', String(seconds)];
    const log = ['--log', `--log-prefix=${path.join(folder, 'log')}`, `--sampling-rate=${SAMPLED}`];
    const said = await pgbench(bench, [...load, ...log]);
    const client = childrenCpuMicros() - before.client;
    const database = readCpu(bench.meter).database - before.database;
    const transactions = numberIn(said, /^number of transactions actually processed: (\d+)/m);
    const latencies = readLatencies(folder);
    return {
      perSecond: numberIn(said, /^tps = ([\d.]+) \((?:without|excluding)/m),
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
      cpuMicros: Number.isNaN(database) ? undefined : { client: client / transactions, database: database / transactions },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function pgbench({ binary, databaseUrl }: Pgbench, args: string[]): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const place = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password, PGDATABASE: pathname.slice(1) };
  const child = spawn(binary.file, args, { env: { ...binary.environment, ...place }, stdio: ['ignore', 'pipe', 'pipe'] });
  const goWithUs = () => void child.kill();
  process.once('exit', goWithUs);
  let [said, complaints] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  child.stderr.on('data', (text: Buffer) => (complaints += text.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.removeListener('exit', goWithUs);
      if (code === 0) resolve(said);
      else reject(new Error(`pgbench ended with ${code}: ${complaints.trim()}`));
    });
  });
}

/** `client transaction microseconds script epoch epoch-microseconds`, one file a thread. */
function readLatencies(folder: string): number[] {
  const lines = readdirSync(folder).flatMap((file) => readFileSync(path.join(folder, file), 'utf8').trim().split('\n'));
  return lines.map((line) => Number(line.split(' ')[2]) / 1000).toSorted((a, b) => a - b);
}

function numberIn(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`pgbench said something else than usual:\n${text}`);
  return Number(found);
}
