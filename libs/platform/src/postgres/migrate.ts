// Brings a database to the schema of this version: `migrations/0001-baseline.sql` and the files with higher numbers.
// `migrations/before-baseline` has the older files, which databases made before 0.2.0 have run. There are three cases:
//
// 1. The database is empty: runs the baseline.
// 2. It has all older files: records the baseline without running it, because its schema is the baseline's.
// 3. It has only some of them: runs the missing ones in order, then records the baseline.
//
// After that the files with higher numbers run, in all cases. Any other database is refused: nothing tells which schema it has.
//
// Each file commits in one transaction with its record in the table `migrations`, and the baseline is recorded last of all older
// files. So after a crash at any point the next call reads there what is missing, and goes on.
//
// At the end the role of the services gets its rights on all tables, also on new ones (services-role.ts).
//
// A record is the file's name with its number at the end: `0001-baseline.sql` is `baseline0000000000001`. TypeORM runs the files
// whose names are not recorded, in the order of the numbers. The older files also begin at 1, so they run in a call of their own.
import fs from 'node:fs';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { projectFile } from '../project-root.ts';
import { createServicesRole, grantRights, type ServicesRole } from './services-role.ts';

/**
 * Number of the advisory lock that keeps two processes from migrating at the same time; TypeORM takes no lock. The number is
 * arbitrary.
 */
const MIGRATION_LOCK = 7_426_001;
const BASELINE = 'baseline0000000000001';

/** What `migrate` did, as names of records. */
export interface MigrationReport {
  readonly applied: readonly string[];
  /** The baseline, if the database had its schema already. */
  readonly recordedOnly: readonly string[];
}

type Migrations = (new () => MigrationInterface & { readonly name: string })[];

/** Makes a TypeORM migration of each SQL file in the folder. */
export function sqlMigrations(folder = projectFile('migrations')): Migrations {
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

/** The role of the services. With a password the role is created if it is missing. */
export interface MigrationOptions {
  readonly services?: ServicesRole & { readonly password?: string };
}

/**
 * Applies all pending migrations as the owner of the schema, whom the URL names, and grants the services their rights. Several
 * processes may call it at the same time.
 */
export async function migrate(
  url: string,
  folder = projectFile('migrations'),
  { services }: MigrationOptions = {},
): Promise<MigrationReport> {
  const current = sqlMigrations(folder);
  const older = sqlMigrations(`${folder}/before-baseline`);
  return withConnection(url, [], async (lockHolder) => {
    const runner = lockHolder.createQueryRunner();
    try {
      await runner.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
      const isOlder = await wasMadeByOlderFiles(runner, namesOf(older), namesOf(current));
      const report = isOlder ? await runAfterOlder(url, older, current) : { applied: await run(url, current), recordedOnly: [] };
      if (services?.password !== undefined) await createServicesRole(runner, { ...services, password: services.password });
      if (services) await grantRights(runner, services);
      return report;
    } finally {
      await runner.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
      await runner.release();
    }
  });
}

/** Runs the older files that are missing, records the baseline, and runs the files after it (cases 2 and 3). */
async function runAfterOlder(url: string, older: Migrations, current: Migrations): Promise<MigrationReport> {
  const missing = await run(url, older);
  const later = (await run(url, withBaselineRecordedOnly(current))).filter((name) => name !== BASELINE);
  return { applied: [...missing, ...later], recordedOnly: [BASELINE] };
}

/** Whether the database was made by older files and has no baseline yet (cases 2 and 3). Throws if its state is unknown. */
async function wasMadeByOlderFiles(runner: QueryRunner, older: string[], current: string[]): Promise<boolean> {
  const recorded = await recordedNames(runner);
  if (recorded.includes(BASELINE)) return false;
  const unknown = recorded.filter((name) => !older.includes(name) && !current.includes(name));
  if (unknown.length > 0) throw new UnknownSchema(`has migrations that this version does not know: ${unknown.join(', ')}`);
  if (recorded.length > 0) return true;
  const tables = await tableNames(runner);
  if (tables.length > 0) throw new UnknownSchema(`has tables, but no record of our migrations: ${tables.join(', ')}`);
  return false;
}

class UnknownSchema extends Error {
  constructor(why: string) {
    super(`This database is left as it is: it ${why}. Migrate an empty database, or one that \`migrate\` has made.`);
  }
}

async function recordedNames(runner: QueryRunner): Promise<string[]> {
  if (!(await runner.hasTable('migrations'))) return [];
  const rows = (await runner.query('select name from migrations order by id')) as { name: string }[];
  return rows.map(({ name }) => name);
}

/** The tables in the schema of `migrations`, without those that belong to an extension. */
async function tableNames(runner: QueryRunner): Promise<string[]> {
  const rows = (await runner.query(
    `select relname as name from pg_class c
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and relname <> 'migrations'
       and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
     order by relname`,
  )) as { name: string }[];
  return rows.map(({ name }) => name);
}

const namesOf = (migrations: Migrations): string[] => migrations.map((Migration) => new Migration().name);

/** Runs the migrations that are not recorded, each in a transaction with its record. Returns their names. */
function run(url: string, migrations: Migrations): Promise<string[]> {
  return withConnection(url, migrations, async (dataSource) => {
    const applied = await dataSource.runMigrations();
    return applied.map(({ name }) => name);
  });
}

/**
 * The same migrations, but the baseline changes nothing. TypeORM's option `fake` would record it outside a transaction: the insert
 * of a killed process could still commit later, after the next process has recorded the baseline too.
 */
function withBaselineRecordedOnly(migrations: Migrations): Migrations {
  return migrations.map((Migration) => {
    if (new Migration().name !== BASELINE) return Migration;
    return class extends Migration {
      override up(): Promise<void> {
        return Promise.resolve();
      }
    };
  });
}

async function withConnection<T>(url: string, migrations: Migrations, work: (dataSource: DataSource) => Promise<T>): Promise<T> {
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    applicationName: 'tribina-migrate',
    migrations,
    migrationsTransactionMode: 'each',
    poolSize: 2,
    installExtensions: false,
    logging: false,
  });
  await dataSource.initialize();
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
