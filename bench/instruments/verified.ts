import { execFile } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../../tools/local/build.ts';
import type { Verification } from '../../apps/monolith/src/cli/verify/verify-database.ts';

const CLI = path.join(ROOT, 'dist/apps/monolith/src/cli.js');
const TIMEOUT_MS = 120_000;

interface Addresses {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/** Runs `npm run cli -- verify`, the check that operators use, and returns the broken invariants of the database. */
export function findBrokenInvariants({ databaseUrl, redisUrl }: Addresses, timeoutMs = TIMEOUT_MS): Promise<string[]> {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, 'verify', '--json'], { env, timeout: timeoutMs }, (error, stdout, stderr) => {
      const verification = parse(stdout);
      if (!verification) return resolve([`verify gave no result: ${error?.message} ${stderr.trim().slice(0, 300)}`]);
      resolve(describeBrokenInvariants(verification));
    });
  });
}

/** The broken invariants of a `verify` result as text, one line each. */
export function describeBrokenInvariants({ invariants }: Verification): string[] {
  const broken = invariants.filter((finding) => finding.broken > 0);
  return broken.map(
    ({ name, broken: times, rows }) => `verify: ${name} is broken ${times} times, as in ${JSON.stringify(rows[0])}`,
  );
}

function parse(text: string): Verification | undefined {
  try {
    return JSON.parse(text) as Verification;
  } catch {
    return undefined;
  }
}
