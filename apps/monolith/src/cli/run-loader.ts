import { DueEffects, type Consumer, type RunStatement } from '#event-loader/adapters/due-effects';
import type { ConfiguredSource } from '#event-loader/adapters/configured-sources';
import { buildEventLoader } from '#event-loader/adapters/open-event-loader';
import { openLoaderPools } from '#event-loader/adapters/postgres-event-store';
import { RequestRefused } from '#platform/http/request-refused';
import { createLogger } from '#platform/logging/logger';
import { sqlstateOf, sqlstates } from '#platform/postgres/sqlstates';
import { closeRedis, connectRedis, whenReady } from '#platform/redis/redis-connection';
import type { INestApplicationContext } from '@nestjs/common';
import { PartnerSalesApi } from '../purchase/partner-sales.api.ts';
import { GateLogApi } from '../ticketing/gate-log.api.ts';
import { settingsForLoader } from '../config.ts';
import { aliveSign } from './alive-sign.ts';
import { errorText, loaderConfigOrExit, NotRunning, ticketKeysOrExit } from './environment.ts';
import { loaderAlerts, sourceAlerts } from './loader-alerts.ts';
import { withMonolithContext } from './monolith-context.ts';

interface Run {
  readonly once: boolean;
  /** Path of a file that is written while the loader polls its sources. A probe checks the time of its last change. */
  readonly aliveFile?: string;
  readonly stop: AbortSignal;
}

type Consumers = ReadonlyMap<string, Consumer>;

/**
 * Runs the event loader until `run.stop` aborts, or polls each source once if `run.once` is set. Returns the result as lines to
 * print.
 */
export async function runLoader(sources: readonly ConfiguredSource[], run: Run): Promise<string[]> {
  const config = loaderConfigOrExit();
  const ticketKeys = ticketKeysOrExit(config, sources);
  const logger = createLogger({ service: 'loader', level: config.LOG_LEVEL, destination: process.stderr });
  const alerts = loaderAlerts(config, logger);
  const pools = openLoaderPools(config.DATABASE_URL);
  const redis = connectRedis(config.REDIS_URL, { name: 'loader' });
  try {
    await pools.reads.query('select 1 from loader_sources limit 1').catch(explainMissingTables);
    if (!(await whenReady(redis)))
      throw new NotRunning('Redis does not answer; the loader needs it for its locks and its rate limiter.');
    const { loader, polls, locks } = buildEventLoader(sources, { pools, redis, logger, alerts: sourceAlerts(alerts) }, run.stop);
    const runStatement: RunStatement = async <Row>(text: string, values: unknown[]) =>
      (await pools.reads.query(text, values)).rows as Row[];
    const loadAndApply = async (consumers: Consumers): Promise<void> => {
      const effects = consumers.size > 0 && new DueEffects(runStatement, consumers, locks, logger);
      if (!run.once)
        return void (await Promise.all([loader.run(run.stop, aliveSign(run.aliveFile)), effects && effects.runUntil(run.stop)]));
      await loader.runOnce(run.stop);
      while (effects && (await effects.runOnce(run.stop)) > 0);
    };
    // Building the monolith's use cases takes a second, so we do it only if the events of some source are applied here.
    const hasConsumers = sources.some(({ feeds }) => feeds === 'gate-scans' || feeds === 'partner-sales');
    const useCases = settingsForLoader(config, ticketKeys);
    if (hasConsumers) await withMonolithContext(useCases, (context) => loadAndApply(consumersOf(context)));
    else await loadAndApply(new Map());
    return resultLines(polls.sum, polls.failing);
  } finally {
    await Promise.all([pools.close(), closeRedis(redis), alerts.settled()]);
  }
}

function explainMissingTables(error: unknown): never {
  if (sqlstateOf(error) !== sqlstates.undefinedTable) throw error;
  throw new Error('The database is behind this version of the code. Run `npm run cli -- migrate` first.');
}

/**
 * The consumers of loaded events, by the name that a source's `feeds` setting uses. The monolith applies `payments` itself, because a paid
 * order gets ticket codes, and the loader has no key to sign them.
 */
function consumersOf(context: INestApplicationContext): Consumers {
  const api = <T>(type: abstract new (...args: never[]) => T): T => context.get<T>(type, { strict: false });
  const [gateLog, partnerSales] = [api(GateLogApi), api(PartnerSalesApi)];
  // A malformed event stays malformed, so a retry cannot help.
  const isFinal = (error: unknown): boolean => error instanceof RequestRefused;
  return new Map<string, Consumer>([
    ['gate-scans', { isFinal, act: (event, effect) => gateLog.record(event, effect) }],
    ['partner-sales', { isFinal, act: (event, effect) => partnerSales.apply(event, effect) }],
  ]);
}

type Sum = Readonly<Record<'stored' | 'refused' | 'quarantined' | 'fetchedAgain', number>>;

function resultLines(sum: Sum, failing: ReadonlyMap<string, unknown>): string[] {
  const again = sum.fetchedAgain > 0 ? `, ${sum.fetchedAgain} fetched again` : '';
  return [
    `${sum.stored} event(s) stored, ${sum.refused} duplicate(s) refused, ${sum.quarantined} quarantined${again}`,
    ...[...failing].map(([source, error]) => `${source}: ${errorText(error)}`),
  ];
}
