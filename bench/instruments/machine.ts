import { spawnSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { ROOT } from '../../tools/local/build.ts';

/** The machine and the commit of a benchmark run, for its report. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly platform: string;
  readonly node: string;
  readonly commit: string;
  /** Load average of the minute before the benchmark. */
  readonly loadBefore: number;
}

export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    commit: commit(),
    loadBefore: loadavg()[0] ?? 0,
  };
}

function commit(): string {
  const git = (...args: string[]): string => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? '';
  const name = git('rev-parse', '--short', 'HEAD') || 'unknown';
  return git('status', '--porcelain', '--', 'apps', 'libs', 'migrations') === '' ? name : `${name} with changes`;
}
