import { sqlstateOf, sqlstates } from './sqlstates.ts';

/** Tables to which the services only add rows. What they record cannot be changed by somebody who takes over a service. */
const APPEND_ONLY_TABLES = ['audit_log', 'quota_moves', 'loaded_events'];
/** Tables that the services only read. */
const READ_ONLY_TABLES = ['migrations'];
/** The schema that BullMQ makes and changes by itself, with JOBS_TRANSPORT=postgres. */
const JOBS_SCHEMA = 'bullmq';

/** A connection of the owner of the schema. */
export interface OwnerConnection {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

/** The database role of the services. The owner of the schema is another role, which only migrates. */
export interface ServicesRole {
  readonly user: string;
  /** True if the services keep background jobs in PostgreSQL, in a schema of their own. */
  readonly hasJobs: boolean;
}

/** The user and the password in a URL of PostgreSQL. Undefined if it names no user. */
export function credentialsIn(url: string): { readonly user: string; readonly password: string } | undefined {
  const [, user = '', password = ''] = /^postgres(?:ql)?:\/\/([^:@/?]+)(?::([^@/?]*))?@/.exec(url) ?? [];
  return user === '' ? undefined : { user: decodeURIComponent(user), password: decodeURIComponent(password) };
}

/** Creates the role of the services if it is missing, and gives it this password. Needs the right to create roles. */
export async function createServicesRole(runner: OwnerConnection, role: { user: string; password: string }): Promise<void> {
  const { user, password } = role;
  await runner.query(
    await statement(
      runner,
      (await hasRole(runner, user)) ? 'alter role %1$I login password %2$L' : 'create role %1$I login password %2$L',
      user,
      password,
    ),
  );
}

/**
 * Grants the services what they need on all tables, also on those that this migration has created: to read and write rows, never to
 * change the schema. Does nothing if the services connect as the owner. One transaction, so that the services never have more rights
 * in between.
 */
export async function grantRights(runner: OwnerConnection, { user, hasJobs }: ServicesRole): Promise<void> {
  const [current] = (await runner.query('select current_user as name')) as { name: string }[];
  if (current?.name === user) return;
  if (!(await hasRole(runner, user))) throw new MissingRole(user);
  const tables = `grant select, insert, update, delete on all tables in schema %2$I to %1$I;
    grant usage, select on all sequences in schema %2$I to %1$I`;
  const grants = [
    'grant usage on schema %2$I to %1$I',
    tables,
    ...APPEND_ONLY_TABLES.map((table) => `revoke update, delete on ${table} from %1$I`),
    ...(await existing(runner, READ_ONLY_TABLES)).map((table) => `revoke insert, update, delete on ${table} from %1$I`),
  ];
  const [schema] = (await runner.query('select current_schema() as name')) as { name: string }[];
  const sql = await statement(runner, grants.join(';\n'), user, schema?.name ?? 'public');
  const jobs = hasJobs ? await rightsForJobs(runner, user) : '';
  try {
    await runner.query(`begin; ${sql}; ${jobs} commit`);
  } catch (error) {
    await runner.query('rollback');
    if (sqlstateOf(error) !== sqlstates.insufficientPrivilege) throw error;
    throw new Error(`DATABASE_MIGRATION_URL must name the owner of all tables: ${String(error)}`, { cause: error });
  }
}

/** BullMQ creates its schema when the services start, so they need the right to do it. An existing one keeps its owner. */
async function rightsForJobs(runner: OwnerConnection, user: string): Promise<string> {
  const [found] = (await runner.query('select current_database() as database, to_regnamespace($1) is not null as exists', [
    JOBS_SCHEMA,
  ])) as { database: string; exists: boolean }[];
  const create = await statement(runner, 'grant create on database %2$I to %1$I;', user, found?.database ?? '');
  if (!found?.exists) return create;
  const all = `grant usage, create on schema ${JOBS_SCHEMA} to %1$I; grant all on all tables in schema ${JOBS_SCHEMA} to %1$I;
    grant all on all sequences in schema ${JOBS_SCHEMA} to %1$I; grant execute on all functions in schema ${JOBS_SCHEMA} to %1$I;`;
  return create + (await statement(runner, all, user));
}

class MissingRole extends Error {
  constructor(user: string) {
    super(
      `There is no database role "${user}", which DATABASE_URL names. Create it (\`create role ${user} login password …\`), or run \`migrate --create-user\` with an owner who may create roles.`,
    );
  }
}

/** The table of the migrations is missing in a database that tests have made without `migrate`. */
async function existing(runner: OwnerConnection, tables: readonly string[]): Promise<string[]> {
  const sql = 'select name from unnest($1::text[]) as t(name) where to_regclass(name) is not null';
  return ((await runner.query(sql, [tables])) as { name: string }[]).map(({ name }) => name);
}

async function hasRole(runner: OwnerConnection, user: string): Promise<boolean> {
  return ((await runner.query('select 1 from pg_roles where rolname = $1', [user])) as unknown[]).length > 0;
}

/** Fills names and values into a statement that takes no parameters. The server quotes them. */
async function statement(runner: OwnerConnection, template: string, ...values: readonly string[]): Promise<string> {
  const places = values.map((_, index) => `$${index + 2}::text`).join(', ');
  const [row] = (await runner.query(`select format($1, ${places}) as sql`, [template, ...values])) as { sql: string }[];
  return row?.sql ?? '';
}
