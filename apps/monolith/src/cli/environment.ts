import { readSources, type ConfiguredSource } from '#event-loader/adapters/configured-sources';
import { ConfigFaults, exitWithFaults, loadConfig, loadConfigOrExit } from '#platform/config/load-config';
import { databaseSettings, developmentSecrets, processSettings, purchaseSettings } from '#platform/config/settings';
import { credentialsIn } from '#platform/postgres/services-role';
import { openDatabase } from '#platform/postgres/database';
import { projectFile } from '#platform/project-root';
import { publicKeyText } from '#ticketing/ticket-keys';
import { InvalidArgumentError } from 'commander';
import fs from 'node:fs';
import path from 'node:path';
import type { DataSource } from 'typeorm';
import { z } from 'zod';
import { loaderConfig, migrateSettings, monolithConfig, type LoaderConfig, type MonolithConfig } from '../config.ts';

/** A server that the command needs is not running; the CLI exits with 69. */
export class NotRunning extends Error {}

const runtime = z.looseObject({
  DATABASE_URL: z.string(),
  DATABASE_MIGRATION_URL: z.string().optional(),
  REDIS_URL: z.string(),
  urls: z.object({ monolith: z.string(), 'queue-service': z.string() }),
});

/**
 * The process environment. If it has no DATABASE_URL or REDIS_URL, the missing URLs come from the file runtime.json, which
 * `npm start` writes.
 */
export function environment(): Record<string, string | undefined> {
  if (process.env.DATABASE_URL && process.env.REDIS_URL) return process.env;
  const home = path.resolve(projectFile(), process.env.TRIBINA_HOME ?? '.tribina');
  const file = path.join(home, 'runtime.json');
  if (!fs.existsSync(file)) {
    throw new NotRunning(
      `Nothing is running (no ${file}). Start the system with \`npm start\`, or set DATABASE_URL and REDIS_URL.`,
    );
  }
  const parsed = runtime.safeParse(JSON.parse(fs.readFileSync(file, 'utf8')));
  if (!parsed.success) throw new NotRunning(`${file} cannot be read. Was it written by another version?`);
  const { DATABASE_URL, DATABASE_MIGRATION_URL, REDIS_URL, urls } = parsed.data;
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  return {
    DATABASE_URL,
    DATABASE_MIGRATION_URL,
    REDIS_URL,
    PUBLIC_URL: urls.monolith,
    MONOLITH_INTERNAL_URL: urls.monolith,
    QUEUE_INTERNAL_URL: urls['queue-service'],
    ...given,
  };
}

const databaseUrlSettings = databaseSettings.extend(processSettings.pick({ NODE_ENV: true }).shape);

/** Whom `migrate` connects as, and whom it grants rights to. */
export interface MigrationTarget {
  readonly ownerUrl: string;
  readonly services: { readonly user: string; readonly password: string; readonly hasJobs: boolean };
  /** What an operator should change. */
  readonly warnings: readonly string[];
}

/**
 * The settings of `migrate`. It needs nothing else, so its pod in a cluster gets no other secret (k8s/migrate). Throws ConfigFaults.
 */
export function migrationTarget(env: Readonly<Record<string, string | undefined>>): MigrationTarget {
  const { DATABASE_URL, DATABASE_MIGRATION_URL, JOBS_TRANSPORT, NODE_ENV } = loadConfig(migrateSettings, env);
  const services = credentialsIn(DATABASE_URL);
  const owner = credentialsIn(DATABASE_MIGRATION_URL ?? DATABASE_URL);
  const isUnset = DATABASE_MIGRATION_URL === undefined;
  const unset = 'DATABASE_MIGRATION_URL: is not set, so the services own the schema and can change the audit log';
  const same = 'DATABASE_MIGRATION_URL: names the user of DATABASE_URL, who can change the audit log';
  const faults = [
    ...(isUnset && NODE_ENV === 'production' ? [unset] : []),
    ...(services ? [] : ['DATABASE_URL: names no user, to whom rights could be granted']),
  ];
  if (!services || faults.length > 0) throw new ConfigFaults(faults);
  return {
    ownerUrl: DATABASE_MIGRATION_URL ?? DATABASE_URL,
    services: { ...services, hasJobs: JOBS_TRANSPORT === 'postgres' },
    warnings: isUnset ? [unset] : services.user === owner?.user ? [same] : [],
  };
}

/** Like `migrationTarget` for the environment of this process. With faults it prints them and exits with 78. */
export function migrationTargetOrExit(): MigrationTarget {
  return exitWithFaults(() => migrationTarget(process.env.DATABASE_URL ? process.env : environment()));
}

/** Returns DATABASE_URL. Only NODE_ENV is checked besides the settings of the database. */
export function databaseUrl(): string {
  const env = process.env.DATABASE_URL ? process.env : environment();
  return loadConfigOrExit(databaseUrlSettings, env).DATABASE_URL;
}

const signingSettings = processSettings
  .pick({ NODE_ENV: true })
  .extend(purchaseSettings.pick({ TICKET_SIGNING_KEY: true }).shape);

/** The key that signs ticket codes. No running system is needed. */
export function ticketSigningKey(): string {
  return loadConfigOrExit(signingSettings, process.env).TICKET_SIGNING_KEY;
}

/** The settings of the monolith for a command. Only warnings and errors are logged, to stderr: stdout is for results. */
export function cliConfig(): MonolithConfig {
  return loadConfigOrExit(monolithConfig, { LOG_LEVEL: 'warn', ...environment() });
}

/** Opens one database connection for a command and closes it after `work`. */
export async function withDatabase<T>(url: string, work: (dataSource: DataSource) => Promise<T>, name = 'cli'): Promise<T> {
  const dataSource = await openDatabase({ url, name, poolSize: 1 });
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** Is aborted by the first SIGTERM or SIGINT, so that a command can finish what it is doing. A second signal ends the process. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The exit code for wrong settings: EX_CONFIG of the sysexits convention. */
const EXIT_CONFIG = 78;

/**
 * The event sources in the file that LOADER_SOURCES names. If the file has faults, prints all of them at once and exits with 78.
 */
export function loaderSources(): ConfiguredSource[] {
  const { LOADER_SOURCES: file } = loadConfigOrExit(loaderConfig.pick({ LOADER_SOURCES: true }), process.env);
  const { sources, faults } = file ? readSources(file, process.env) : { sources: [], faults: ['is required'] };
  return faults.length === 0 ? sources : exitWith(faults.map((fault) => `LOADER_SOURCES: ${fault}`));
}

/** The settings of `loader:run`. Like those of every command they come from the environment or from the running system. */
export function loaderConfigOrExit(): LoaderConfig {
  return loadConfigOrExit(loaderConfig, { LOG_LEVEL: 'warn', ...environment() });
}

/** The public keys with which the loader reads the codes of scanned tickets. Outside production they default to the development key. */
export function ticketKeysOrExit(config: LoaderConfig, sources: readonly ConfiguredSource[]): readonly string[] {
  const keys = config.TICKET_PUBLIC_KEYS;
  if (!sources.some(({ feeds }) => feeds === 'gate-scans')) return keys ?? [];
  const developmentKey = publicKeyText(developmentSecrets.TICKET_SIGNING_KEY);
  if (config.NODE_ENV !== 'production') return keys ?? [developmentKey];
  if (!keys) return exitWith(['TICKET_PUBLIC_KEYS: is needed by a source that feeds gate-scans']);
  const isPublic = keys.some((key) => Buffer.from(key, 'base64').equals(Buffer.from(developmentKey, 'base64')));
  return isPublic ? exitWith(['TICKET_PUBLIC_KEYS: the development key is refused in production']) : keys;
}

function exitWith(faults: readonly string[]): never {
  process.stderr.write(`${new ConfigFaults(faults).message}\n`);
  process.exit(EXIT_CONFIG);
}

/**
 * Names of the configured event sources that are valid; empty without LOADER_SOURCES. Skips sources with faults, so that
 * `loader:status` always works.
 */
export function configuredSources(): string[] {
  const file = process.env.LOADER_SOURCES?.trim();
  return file ? readSources(file, process.env).sources.map(({ name }) => name) : [];
}

/** Parser for a command line option that takes a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`);
    return value;
  };
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
