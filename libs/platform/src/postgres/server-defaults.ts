import type { DataSource } from 'typeorm';
import type { Logger } from '../logging/logger.ts';

/** What the embedded server, Compose and docs/deployment.md set. Both can be changed while the server runs. */
const OURS = { max_pred_locks_per_page: 200, max_pred_locks_per_relation: 20_000 } as const;

export interface ServerSetting {
  readonly name: keyof typeof OURS;
  readonly setting: string;
  /** What the server has when nobody sets it. */
  readonly byDefault: string;
}

/**
 * With PostgreSQL's defaults a third row of a page turns the marks of a SERIALIZABLE transaction into one on the whole page, and buyers of
 * different seats abort each other: correct, and a storm of 40001 at the worst moment (ADR 0004). Undefined when all is well.
 */
export function adviceOn(settings: readonly ServerSetting[]): string | undefined {
  const stock = settings.filter(({ setting, byDefault }) => setting === byDefault);
  if (stock.length === 0) return undefined;
  const found = stock.map(({ name, setting }) => `${name} = ${setting}`).join(', ');
  const remedy = stock.map(({ name }) => `alter system set ${name} = ${OURS[name]};`).join(' ');
  return `PostgreSQL runs with its defaults ${found}: buyers of different seats will abort each other. To set them, without a restart: ${remedy} select pg_reload_conf();`;
}

/** Said once at start, to the people who can change it. A server that does not say is not a reason to stand still. */
export async function warnOfServerDefaults(dataSource: DataSource, logger: Pick<Logger, 'warn'>): Promise<void> {
  const advice = adviceOn(await readSettings(dataSource).catch(() => []));
  if (advice) logger.warn({ see: 'docs/deployment.md, PostgreSQL' }, advice);
}

export function readSettings(dataSource: DataSource): Promise<ServerSetting[]> {
  return dataSource.query<ServerSetting[]>(
    `select name, setting, boot_val as "byDefault" from pg_settings where name = any($1) order by name`,
    [Object.keys(OURS)],
  );
}
