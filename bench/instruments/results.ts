import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const RESULTS = path.resolve(import.meta.dirname, '../results');

/** What a benchmark writes to bench/results. */
export interface BenchmarkFiles {
  readonly at: Date;
  readonly benchmark: string;
  /** Part of the file name. */
  readonly name: string | undefined;
  readonly report: string;
  readonly data: unknown;
}

/** Writes the report as Markdown and the data as JSON. Returns the path of both files for a message to the user. */
export function writeFiles({ at, benchmark, name, report, data }: BenchmarkFiles): string {
  mkdirSync(RESULTS, { recursive: true });
  const file = path.join(RESULTS, `${at.toISOString().slice(0, 10)}-${benchmark}${name ? `-${name}` : ''}`);
  writeFileSync(`${file}.md`, report);
  writeFileSync(`${file}.json`, `${JSON.stringify(data, undefined, 2)}\n`);
  return `${path.relative(process.cwd(), file)}.{md,json}`;
}
