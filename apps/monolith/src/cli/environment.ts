import { readSources } from '#event-loader/adapters/configured-sources';
import type { ConfiguredSource } from '#event-loader/adapters/fetcher-by-kind';
import { ConfigFaults, loadConfigOrExit } from '#platform/config/load-config';
import { databaseSettings } from '#platform/config/settings';
import { projectFile } from '#platform/project-root';
import { InvalidArgumentError } from 'commander';
import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { loaderSettings, monolithConfig, type MonolithConfig } from '../config.ts';

export class NotRunning extends Error {}

const runtime = z.looseObject({
  DATABASE_URL: z.string(),
  REDIS_URL: z.string(),
  urls: z.object({ monolith: z.string(), 'queue-service': z.string() }),
});

/** The environment as given, and where it names no servers, those of the system that runs on this machine. */
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
  if (!parsed.success) throw new NotRunning(`${file} is not readable as a running system; is another version running?`);
  const { DATABASE_URL, REDIS_URL, urls } = parsed.data;
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  return { DATABASE_URL, REDIS_URL, PUBLIC_URL: urls.monolith, QUEUE_INTERNAL_URL: urls['queue-service'], ...given };
}

/** All that a migration needs, so that the one which runs in a cluster gets no other secret (k8s/migrate). */
export function databaseUrl(): string {
  const env = process.env.DATABASE_URL ? process.env : environment();
  return loadConfigOrExit(databaseSettings, env).DATABASE_URL;
}

/** Logs go to stderr, and only what is wrong: stdout is for results. */
export function cliConfig(): MonolithConfig {
  return loadConfigOrExit(monolithConfig, { LOG_LEVEL: 'warn', ...environment() });
}

/** sysexits: EX_CONFIG. */
const EXIT_CONFIG = 78;

/** The sources of LOADER_SOURCES; with every fault of that file at once, as with every other setting. */
export function loaderSources(): ConfiguredSource[] {
  const { LOADER_SOURCES: file } = loadConfigOrExit(loaderSettings, process.env);
  const { sources, faults } = file ? readSources(file, process.env) : { sources: [], faults: ['is needed'] };
  if (faults.length === 0) return sources;
  process.stderr.write(`${new ConfigFaults(faults.map((fault) => `LOADER_SOURCES: ${fault}`)).message}\n`);
  process.exit(EXIT_CONFIG);
}

/** Names of the sources, as far as there are any: looking needs no settings that are right. */
export function configuredSources(): string[] {
  const file = process.env.LOADER_SOURCES?.trim();
  return file ? readSources(file, process.env).sources.map(({ name }) => name) : [];
}

/** A whole number of an option, refused with the option's name otherwise. */
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
