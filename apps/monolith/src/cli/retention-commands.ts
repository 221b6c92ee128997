import { loadConfigOrExit } from '#platform/config/load-config';
import { createLogger } from '#platform/logging/logger';
import { openDatabase } from '#platform/postgres/database';
import { closeRedis, connectRedis, whenReady } from '#platform/redis/redis-connection';
import type { Command } from 'commander';
import type { DataSource } from 'typeorm';
import { retentionConfig } from '../config.ts';
import { aliveSign } from './alive-sign.ts';
import { databaseUrl, environment, migrationTargetOrExit, NotRunning, print, stopSignal, withDatabase } from './environment.ts';
import { FanErasures } from './retention/fan-erasures.ts';
import { Retention } from './retention/retention.ts';

const RUNS = `select rule, ran_at as "ranAt", last_n::int as rows, total_n::int as total from retention_runs order by rule`;
const OPEN_ERASURES = `
  select count(*)::int as open, coalesce(extract(epoch from now() - min(requested_at)), 0)::int as oldest_seconds
  from erasures where done_at is null`;

/** Adds the commands of the retention job: `retention:run` and `retention:status`. */
export function addRetentionCommands(program: Command): void {
  program
    .command('retention:run')
    .description(
      'delete what is older than docs/concepts/privacy.md says, every hour, and finish the erasing of fans within a minute; needs DATABASE_MIGRATION_URL',
    )
    .option('--once', 'do both once, print what was deleted, then stop')
    .option('--alive-file <path>', 'write this file every few seconds, for a probe of the container')
    .action(async ({ once = false, aliveFile }: { once?: boolean; aliveFile?: string }) => {
      await withRetention(async (retention, erasures) => {
        const stop = stopSignal();
        if (!once) return retention.runUntil(stop, aliveSign(aliveFile));
        print(`${await erasures.runOnce(0)} fan(s) erased`);
        for (const { name, keeps, rows } of await retention.runRules(stop)) print(`${name}, kept ${keeps}: ${rows} row(s)`);
      });
    });

  program
    .command('retention:status')
    .description('what the retention job has deleted, and how many fans wait to be erased')
    .option('--json', 'print one JSON document and nothing else')
    .action(async ({ json }: { json?: boolean }) => {
      const { rules, erasures } = await withDatabase(databaseUrl(), readStatus);
      if (json) return print(JSON.stringify({ rules, erasures }));
      print(`${erasures.open} fan(s) wait to be erased (oldest ${erasures.oldest_seconds} s)`);
      if (rules.length === 0) print('the retention job has never run');
      for (const { rule, ran_at, rows, total } of rules) print(`${rule}: ${rows} row(s) at ${ran_at}, ${total} in total`);
    });
}

async function readStatus(database: DataSource) {
  interface Run {
    readonly rule: string;
    readonly ranAt: Date;
    readonly rows: number;
    readonly total: number;
  }
  const runs = await database.query<Run[]>(RUNS);
  const [erasures] = await database.query<{ open: number; oldest_seconds: number }[]>(OPEN_ERASURES);
  return { rules: runs.map(({ ranAt, ...run }) => ({ ...run, ran_at: ranAt.toISOString() })), erasures: erasures! };
}

async function withRetention(work: (retention: Retention, erasures: FanErasures) => Promise<void>): Promise<void> {
  const { ownerUrl, warnings } = migrationTargetOrExit();
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  const { REDIS_URL, LOG_LEVEL } = loadConfigOrExit(retentionConfig, environment());
  const logger = createLogger({ service: 'retention', level: LOG_LEVEL, destination: process.stderr });
  const database = await openDatabase({ url: ownerUrl, name: 'retention', poolSize: 2 });
  const redis = connectRedis(REDIS_URL, { name: 'retention' });
  try {
    if (!(await whenReady(redis))) throw new NotRunning('Redis does not answer; fans are erased there, too.');
    const erasures = new FanErasures(database, redis);
    await work(new Retention(database, redis, erasures, logger), erasures);
  } finally {
    await closeRedis(redis);
    await database.destroy();
  }
}
