import { openDatabase } from '#platform/postgres/database';
import { migrate } from '#platform/postgres/migrate';
import type { Command } from 'commander';
import { cliConfig, databaseUrl, print } from './environment.ts';
import { seedDemo } from './demo-data.ts';

export function addDataCommands(program: Command): void {
  program
    .command('migrate')
    .description('bring the database up to this version of the code')
    .action(async () => {
      const applied = await migrate(databaseUrl());
      print(applied.length === 0 ? 'nothing to migrate' : `migrated: ${applied.join(', ')}`);
    });

  program
    .command('seed')
    .description('put the demo matches into the database: one with a waiting room, one without')
    .option('--if-empty', 'do nothing when there are matches already')
    .action(async (options: { ifEmpty?: boolean }) => {
      const config = cliConfig();
      const dataSource = await openDatabase({ url: config.DATABASE_URL, name: 'cli', poolSize: 2 });
      try {
        const rows = (await dataSource.query('select count(*)::int as n from matches')) as { n: number }[];
        if (options.ifEmpty && (rows[0]?.n ?? 0) > 0) return print('there are matches already');
      } finally {
        await dataSource.destroy();
      }
      for (const line of await seedDemo(config)) print(line);
    });
}
