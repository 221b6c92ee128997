import fs from 'node:fs';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { projectFile } from '../project-root.ts';

/**
 * Number of the advisory lock that keeps two services which start together from migrating at the same time; TypeORM takes no
 * lock. The number is arbitrary.
 */
const MIGRATION_LOCK = 7_426_001;

/**
 * Makes a TypeORM migration of each SQL file: `migrations/0001-outbox.sql` becomes `outbox0000000000001`. TypeORM orders
 * migrations by the number at the end.
 */
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
        throw new Error('Migrations cannot be reverted: write a new one.');
      }
    };
  });
}

/** Applies all pending migrations; returns their names. Several processes may call it at the same time. */
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
  const lockHolder = dataSource.createQueryRunner();
  try {
    await lockHolder.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const applied = await dataSource.runMigrations();
    return applied.map((migration) => migration.name);
  } finally {
    await lockHolder.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await lockHolder.release();
    await dataSource.destroy();
  }
}
