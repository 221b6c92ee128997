import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createServicesRole, grantRights } from '#platform/postgres/services-role';

/** Key of the advisory lock that keeps two Jest workers from creating the template at the same time. The number is arbitrary. */
const TEMPLATE_LOCK = 727_001;
/** The role of the services on the test server. */
const SERVICES = { user: 'test_services', password: 'test_services', hasJobs: false };
const MIGRATIONS = path.resolve(import.meta.dirname, '../../../migrations');

/** A PostgreSQL database for one test file, with all migrations applied. */
export interface TestDatabase {
  /** Names a superuser, who owns the schema. */
  url: string;
  /** Names the role of the services, with the rights that `migrate` grants. */
  servicesUrl: string;
  /** Throws if a connection to the database is still open: a leak in the test or in the code. */
  close(): Promise<void>;
}

/**
 * Creates a database for one test file. It is cloned (20–30 ms) from a template database with all migrations applied. It is removed with the
 * server, after all tests, because ext4 makes new files very slowly for some minutes after it has deleted many. When each test file dropped
 * its own database, a third of all processor time went into making the files of the next ones.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const adminUrl = required('TEST_DATABASE_URL');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withClient(adminUrl, async (client) => {
    const template = await ensureTemplate(client, adminUrl);
    await client.query(`create database ${name} template ${template}`);
  });
  const servicesUrl = new URL(urlOf(adminUrl, name));
  [servicesUrl.username, servicesUrl.password] = [SERVICES.user, SERVICES.password];
  return { url: urlOf(adminUrl, name), servicesUrl: servicesUrl.href, close: () => closeDatabase(adminUrl, name) };
}

/** A Redis database for one test file. */
export interface TestRedis {
  url: string;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Returns an empty Redis database that no other test file uses at the same time: each Jest worker has its own server or database
 * number.
 */
export async function createTestRedis(): Promise<TestRedis> {
  const url = redisOfWorker(Number(process.env.JEST_WORKER_ID ?? 1));
  const client = new Redis(url, { maxRetriesPerRequest: 1 });
  // A test may kill this Redis. The client then reconnects when it is back; without a listener the error would end the process.
  client.on('error', () => undefined);
  const flush = async () => void (await client.flushdb());
  await flush();
  return { url, flush, close: async () => void (await client.quit()) };
}

/**
 * The Redis URL of a Jest worker. If there are more workers than servers, workers share a server and use different database
 * numbers.
 */
function redisOfWorker(worker: number): string {
  const urls = required('TEST_REDIS_URLS').split(',');
  const database = Math.floor((worker - 1) / urls.length);
  return `${urls[(worker - 1) % urls.length]}/${database}`;
}

async function ensureTemplate(admin: pg.Client, adminUrl: string): Promise<string> {
  const migrations = readMigrations();
  const name = `template_${createHash('sha256').update(JSON.stringify(migrations)).digest('hex').slice(0, 16)}`;
  await admin.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  try {
    const found = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) await makeTemplate(admin, adminUrl, name, migrations);
  } finally {
    await admin.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  }
  return name;
}

async function makeTemplate(admin: pg.Client, adminUrl: string, name: string, migrations: Migration[]): Promise<void> {
  const unfinished = `${name}_unfinished`;
  await admin.query(`drop database if exists ${unfinished} with (force)`);
  await admin.query(`create database ${unfinished} template template0`);
  await withClient(urlOf(adminUrl, unfinished), async (client) => {
    for (const { file, sql } of migrations) {
      await client.query(sql).catch((error: unknown) => {
        throw new Error(`Migration ${file} failed: ${String(error)}`, { cause: error });
      });
    }
  });
  await withClient(urlOf(adminUrl, unfinished), async (client) => {
    const connection = { query: async (sql: string, values?: unknown[]) => (await client.query(sql, values)).rows as unknown };
    await createServicesRole(connection, SERVICES);
    await grantRights(connection, SERVICES);
  });
  await admin.query(`alter database ${unfinished} rename to ${name}`);
}

interface Migration {
  file: string;
  sql: string;
}

function readMigrations(): Migration[] {
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file) => ({ file, sql: readFileSync(path.join(MIGRATIONS, file), 'utf8') }));
}

async function closeDatabase(adminUrl: string, name: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const leaked = await openConnections(client, name);
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    if (leaked.length > 0) throw new Error(`${leaked.length} leaked connection(s), last busy with:\n${leaked.join('\n')}`);
  });
}

/**
 * The open connections to a test database. Waits up to two seconds until there are none, because the server notices a closed
 * socket late.
 */
async function openConnections(client: pg.Client, name: string): Promise<string[]> {
  const giveUpAt = Date.now() + 2_000;
  for (;;) {
    const { rows } = await client.query<{ line: string }>(
      "select concat_ws(' ', application_name, state, left(query, 200)) as line from pg_stat_activity where datname = $1",
      [name],
    );
    if (rows.length === 0 || Date.now() > giveUpAt) return rows.map(({ line }) => line);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function urlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

function required(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`${name} is not set: run the tests with \`npm test\` or \`npm run jest\`, which start the servers.`);
  return value;
}
