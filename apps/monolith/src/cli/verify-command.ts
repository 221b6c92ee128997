import { InvalidArgumentError, type Command } from 'commander';
import { z } from 'zod';
import { UnknownMatch, verifyDatabase, type Finding, type Verification } from './verify/verify-database.ts';
import { databaseUrl, print, withDatabase } from './environment.ts';

const EXIT_BROKEN = 1;
const EXIT_USAGE = 2;

/** Adds the command `verify`. */
export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .description('check in the database that no seat was sold twice, no payment is lost and nothing is stuck; exit 1 if not')
    .option('--match <id>', 'check one match only', matchId)
    .option('--json', 'print one JSON document and nothing else')
    .action(async ({ match, json }: { match?: string; json?: boolean }, command: Command) => {
      try {
        const verification = await withDatabase(databaseUrl(), (dataSource) => verifyDatabase(dataSource, { matchId: match }));
        if (json) print(JSON.stringify(verification));
        else for (const line of linesOf(verification)) print(line);
        if (!verification.ok) process.exitCode = EXIT_BROKEN;
      } catch (error) {
        if (error instanceof UnknownMatch) command.error(`error: ${error.message}`, { exitCode: EXIT_USAGE });
        throw error;
      }
    });
}

function matchId(text: string): string {
  const parsed = z.guid().safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError('must be the id of a match.');
  return parsed.data;
}

function linesOf({ ok, as_of, match_id, took_ms, invariants }: Verification): string[] {
  const broken = invariants.filter((finding) => finding.broken > 0).length;
  const rows = invariants.reduce((sum, { checked }) => sum + checked, 0);
  const where = match_id ? `match ${match_id}` : 'all matches';
  const result = ok ? `all ${invariants.length} hold` : `${broken} of ${invariants.length} BROKEN`;
  return [...invariants.flatMap(findingLines), `${result}; ${where} as of ${as_of}, ${rows} rows checked in ${took_ms} ms`];
}

function findingLines({ name, sentence, checked, broken, rows }: Finding): string[] {
  if (broken === 0) return [`ok      ${name}: ${sentence} (${checked} checked)`];
  const shown = rows.map(({ problem, ...ids }) => `        ${problem}: ${JSON.stringify(ids)}`);
  const rest = broken > rows.length ? [`        … and ${broken - rows.length} more`] : [];
  return [`BROKEN  ${name}: ${sentence} (${broken} of ${checked})`, ...shown, ...rest];
}
