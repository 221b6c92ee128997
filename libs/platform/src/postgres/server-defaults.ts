import type { DataSource } from 'typeorm';
import type { Logger } from '../logging/logger.ts';

/**
 * Values of the two lock settings that the embedded server, Compose and docs/deployment.md use. Both can be changed without a
 * restart.
 */
const RECOMMENDED = { max_pred_locks_per_page: 200, max_pred_locks_per_relation: 20_000 } as const;

/** A setting of the PostgreSQL server. */
export interface ServerSetting {
  readonly name: keyof typeof RECOMMENDED;
  readonly setting: string;
  /** PostgreSQL's built-in default. */
  readonly byDefault: string;
}

/**
 * Returns a warning if settings still have PostgreSQL's defaults, else undefined. With the defaults a SERIALIZABLE transaction
 * that reads a third row of a page locks the whole page (predicate lock). Then buyers of different seats abort each other: no
 * data is wrong, but there are many 40001 errors under peak load (ADR 0004).
 */
export function adviceFor(settings: readonly ServerSetting[]): string | undefined {
  const unchanged = settings.filter(({ setting, byDefault }) => setting === byDefault);
  if (unchanged.length === 0) return undefined;
  const found = unchanged.map(({ name, setting }) => `${name} = ${setting}`).join(', ');
  const remedy = unchanged.map(({ name }) => `alter system set ${name} = ${RECOMMENDED[name]};`).join(' ');
  return `PostgreSQL runs with its defaults ${found}: buyers of different seats will abort each other. To set them, without a restart: ${remedy} select pg_reload_conf();`;
}

/** Logs the warning of `adviceFor` once at start. If the settings cannot be read, the process starts without a warning. */
export async function warnAboutServerDefaults(dataSource: DataSource, logger: Pick<Logger, 'warn'>): Promise<void> {
  const advice = adviceFor(await readSettings(dataSource).catch(() => []));
  if (advice) logger.warn({ see: 'docs/deployment.md, PostgreSQL' }, advice);
}

/** Reads the recommended settings from the server. */
export function readSettings(dataSource: DataSource): Promise<ServerSetting[]> {
  return dataSource.query<ServerSetting[]>(
    `select name, setting, boot_val as "byDefault" from pg_settings where name = any($1) order by name`,
    [Object.keys(RECOMMENDED)],
  );
}
