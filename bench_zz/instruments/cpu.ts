// Processor time from the kernel's own accounting: the steadiest figure on a machine that others use too.
import { readdirSync, readFileSync } from 'node:fs';

/** Which processes the time is asked of. */
export interface CpuMeter {
  /** What is measured: one or several processes of ours. */
  readonly service: readonly number[];
  /** PostgreSQL's first process; its children are counted with it. */
  readonly postgres: number;
  readonly redis: number;
  /** Whoever plays the buyers, where that is another process. */
  readonly load: readonly number[];
}

export interface CpuTimes {
  readonly service: number;
  readonly database: number;
  readonly redis: number;
  readonly load: number;
}

/** The kernel counts in hundredths of a second (USER_HZ), on every Linux there is. */
const MICROS_PER_TICK = 10_000;
const hasProc = process.platform === 'linux';

/** Microseconds each has used since it began; NaN where there is no /proc. */
export function readCpu({ service, postgres, redis, load }: CpuMeter): CpuTimes {
  return { service: sum(service), database: familyMicros(postgres), redis: sum([redis]), load: sum(load) };
}

export function between(before: CpuTimes, after: CpuTimes): CpuTimes {
  return {
    service: after.service - before.service,
    database: after.database - before.database,
    redis: after.redis - before.redis,
    load: after.load - before.load,
  };
}

/** What children of this process that have ended used up. */
export function childrenCpuMicros(): number {
  return statOf(process.pid)?.endedChildren ?? Number.NaN;
}

/** A backend that has ended is in its parent's sum for ended children, so none is lost between two readings. */
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
    // The program's name stands in brackets and may hold spaces: count from behind it, the state being field 3 of proc(5).
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
