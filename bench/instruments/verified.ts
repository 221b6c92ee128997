import { execFile } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../../tools/local/build.ts';
import type { Verification } from '../../apps/monolith/src/cli/verify/verify-database.ts';

const CLI = path.join(ROOT, 'dist/apps/monolith/src/cli.js');
const PATIENCE_MS = 120_000;

interface Addresses {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/** What `npm run cli -- verify` finds wrong with a database: the operators' own proof at the end of every run. */
export function brokenIn({ databaseUrl, redisUrl }: Addresses): Promise<string[]> {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, 'verify', '--json'], { env, timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      const verification = parsed(stdout);
      if (!verification) return resolve([`verify did not say anything: ${error?.message} ${stderr.trim().slice(0, 300)}`]);
      resolve(brokenLines(verification));
    });
  });
}

export function brokenLines({ invariants }: Verification): string[] {
  const broken = invariants.filter((finding) => finding.broken > 0);
  return broken.map(
    ({ name, broken: times, rows }) => `verify: ${name} is broken ${times} times, as in ${JSON.stringify(rows[0])}`,
  );
}

function parsed(text: string): Verification | undefined {
  try {
    return JSON.parse(text) as Verification;
  } catch {
    return undefined;
  }
}
