import fs from 'node:fs';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { projectFile } from '../project-root.ts';

/** Any number, the same for all: two services that start together must not migrate together. TypeORM takes no lock. */
const MIGRATION_LOCK = 7_426_001;

/** `migrations/0001-outbox.sql` → a TypeORM migration named `outbox0000000000001`: its order is its number. */
export function sqlMigrations(folder = projectFile('migrations')): (new () => MigrationInterface)[] {
  const files = fs.readdirSync(folder).filter((file) => /^\d{4}-[\w-]+\.sql$/.test(file));
  return files.sort().map((file) => {
    const [number = '', ...slug] = file.replace('.sql', '').split('-');
    const sql = fs.readFileSync(`${folder}/${file}`, 'utf8');
    return class implements MigrationInterface {
      readonly name = `${slug.join('_')}${number.padStart(13, '0')}`;
      async up(runner: QueryRunner): Promise<void> {
        await runner.query(sql);
      }
      down(): Promise<void> {
        throw new Error('Migrations only go forward: write the next one.');
      }
    };
  });
}

/** Brings the schema up to the code; returns the names of what was applied. Safe to run from several places at once. */
export async function migrate(url: string): Promise<string[]> {
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    applicationName: 'tribina-migrate',
    migrations: sqlMigrations(),
    migrationsTransactionMode: 'each',
    poolSize: 2,
    installExtensions: false,
    logging: false,
  });
  await dataSource.initialize();
  const holder = dataSource.createQueryRunner();
  try {
    await holder.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const applied = await dataSource.runMigrations();
    return applied.map((migration) => migration.name);
  } finally {
    await holder.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await holder.release();
    await dataSource.destroy();
  }
}
