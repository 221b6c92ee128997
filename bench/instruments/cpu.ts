// Reads the processor time of processes from the Linux kernel. On a shared machine it varies less than any other figure.
import { readdirSync, readFileSync } from 'node:fs';

/** The processes whose processor time is read. */
export interface CpuMeter {
  /** Process ids of the measured service. */
  readonly service: readonly number[];
  /** Process id of the main process of PostgreSQL. Its children are counted with it. */
  readonly postgres: number;
  readonly redis: number;
  /** Process ids of the load generators (buyers), if they are separate from the service. */
  readonly load: readonly number[];
}

/** Processor time in microseconds: of the service, PostgreSQL (`database`), Redis and the buyers (`load`). */
export interface CpuTimes {
  readonly service: number;
  readonly database: number;
  readonly redis: number;
  readonly load: number;
}

/** Microseconds in one tick: Linux counts processor time in hundredths of a second (USER_HZ). */
const MICROS_PER_TICK = 10_000;
const hasProc = process.platform === 'linux';

/** Microseconds of processor time since the start of each process; NaN if there is no /proc. */
export function readCpu({ service, postgres, redis, load }: CpuMeter): CpuTimes {
  return { service: sum(service), database: familyMicros(postgres), redis: sum([redis]), load: sum(load) };
}

/** The processor time used between two readings. */
export function cpuDifference(before: CpuTimes, after: CpuTimes): CpuTimes {
  return {
    service: after.service - before.service,
    database: after.database - before.database,
    redis: after.redis - before.redis,
    load: after.load - before.load,
  };
}

/** Processor time of the ended children of this process. */
export function childrenCpuMicros(): number {
  return statOf(process.pid)?.endedChildren ?? Number.NaN;
}

/** Microseconds of processor time of these processes together since their start; NaN if there is no /proc. */
export const processMicros = (...pids: readonly number[]): number => sum(pids);

/** Processor time of a process and its children, with the children that have ended, so no time is lost between two readings. */
function familyMicros(parent: number): number {
  const root = statOf(parent);
  if (!root) return Number.NaN;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat?.parent === parent);
  return children.reduce((total, stat) => total + (stat?.own ?? 0), root.own + root.endedChildren);
}

function sum(pids: readonly number[]): number {
  return hasProc ? pids.reduce((total, pid) => total + (statOf(pid)?.own ?? 0), 0) : Number.NaN;
}

function statOf(pid: number): { parent: number; own: number; endedChildren: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program name is in brackets and may contain spaces, so count the fields after the name. They begin with `state`, field 3 of
    // proc(5).
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15);
    const micros = (ticks: number) => ticks * MICROS_PER_TICK;
    return { parent: fields[1] ?? 0, own: micros(user + system), endedChildren: micros(childrenUser + childrenSystem) };
  } catch {
    return undefined;
  }
}
