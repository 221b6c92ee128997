import { migrate } from '#platform/postgres/migrate';
import type { Command } from 'commander';
import { cliConfig, migrationTargetOrExit, print, withDatabase } from './environment.ts';
import { seedDemo } from './demo-data.ts';

/** Adds the commands `migrate` and `seed`. */
export function addDataCommands(program: Command): void {
  program
    .command('migrate')
    .description('apply the migrations that the database does not have yet, print their names, and grant rights to the services')
    .option('--create-user', 'create the user of DATABASE_URL if it is missing, and set its password')
    .action(async ({ createUser = false }: { createUser?: boolean }) => {
      const { ownerUrl, services, warnings } = migrationTargetOrExit();
      for (const warning of warnings) process.stderr.write(`${warning}\n`);
      const { password, ...role } = services;
      const options = { services: createUser ? { ...role, password } : role };
      const { applied, recordedOnly } = await migrate(ownerUrl, undefined, options);
      if (applied.length > 0) print(`migrated: ${applied.join(', ')}`);
      if (recordedOnly.length > 0) print(`recorded, since the database has its schema already: ${recordedOnly.join(', ')}`);
      if (applied.length + recordedOnly.length === 0) print('nothing to migrate');
    });

  program
    .command('seed')
    .description('put the demo matches into the database: one with a waiting room, one without')
    .option('--if-empty', 'do nothing if the database has matches already')
    .action(async (options: { ifEmpty?: boolean }) => {
      const rows = await withDatabase(cliConfig().DATABASE_URL, (dataSource) =>
        dataSource.query('select 1 from matches limit 1'),
      );
      if (options.ifEmpty && rows.length > 0) return print('nothing to do: the database has matches already');
      for (const line of await seedDemo()) print(line);
    });
}
