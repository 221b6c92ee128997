// The yardstick for everything that commits to PostgreSQL: the plain transactions per second, each with three statements, that pgbench
// reaches on the same server in the same minute. `-N` omits the two updates on which all clients would wait for each other.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type CpuMeter, childrenCpuMicros, readCpu } from '../instruments/cpu.ts';
import { quantile } from '../instruments/quantiles.ts';
import type { PgbenchBinary } from './pgbench-binary.ts';

const CLIENTS = 64;
const SCALE = 20;
/** Share of the transactions that pgbench logs: enough samples for a p99, and the cost of logging is negligible. */
const SAMPLING_RATE = 0.2;

/** What pgbench measured. */
export interface PgbenchResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time per transaction; undefined if there is no /proc. */
  readonly cpuMicros: { readonly client: number; readonly database: number } | undefined;
}

/** pgbench and the server that it runs on. */
export interface Pgbench {
  readonly binary: PgbenchBinary;
  readonly databaseUrl: string;
  readonly meter: CpuMeter;
}

/** Creates the pgbench tables: two million accounts, about 300 MB. */
export async function preparePgbench(bench: Pgbench): Promise<void> {
  await pgbench(bench, ['-i', '-q', '-s', String(SCALE)]);
}

/** Runs pgbench for some seconds and reads its rate and latencies. */
export async function runPgbench(bench: Pgbench, seconds: number): Promise<PgbenchResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tribina-pgbench-'));
  try {
    const before = { client: childrenCpuMicros(), database: readCpu(bench.meter).database };
    const load = ['-N', '-n', '-c', String(CLIENTS), '-j', '2', '-M', 'prepared', '-T', String(seconds)];
    const log = ['--log', `--log-prefix=${path.join(folder, 'log')}`, `--sampling-rate=${SAMPLING_RATE}`];
    const output = await pgbench(bench, [...load, ...log]);
    const client = childrenCpuMicros() - before.client;
    const database = readCpu(bench.meter).database - before.database;
    const transactions = numberIn(output, /^number of transactions actually processed: (\d+)/m);
    const latencies = readLatencies(folder);
    return {
      perSecond: numberIn(output, /^tps = ([\d.]+) \((?:without|excluding)/m),
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
  const connection = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password, PGDATABASE: pathname.slice(1) };
  const child = spawn(binary.file, args, { env: { ...binary.environment, ...connection }, stdio: ['ignore', 'pipe', 'pipe'] });
  const killOnExit = () => void child.kill();
  process.once('exit', killOnExit);
  let [output, errorOutput] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (errorOutput += text.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.removeListener('exit', killOnExit);
      if (code === 0) resolve(output);
      else reject(new Error(`pgbench ended with ${code}: ${errorOutput.trim()}`));
    });
  });
}

/** Log lines are `client transaction microseconds script epoch epoch-microseconds`, in one file per thread. */
function readLatencies(folder: string): number[] {
  const lines = readdirSync(folder).flatMap((file) => readFileSync(path.join(folder, file), 'utf8').trim().split('\n'));
  return lines.map((line) => Number(line.split(' ')[2]) / 1000).toSorted((a, b) => a - b);
}

function numberIn(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`unexpected output of pgbench:\n${text}`);
  return Number(found);
}
