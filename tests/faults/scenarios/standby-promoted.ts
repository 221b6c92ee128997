import type { TcpProxy } from '#testing/tcp-proxy';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { OwnServers, Standby } from '../../../bench/instruments/own-servers.ts';
import { Buyers } from '../buyers.ts';
import { resendAcknowledged } from '../resend-acknowledged.ts';
import type { Check, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

interface Sizes {
  readonly buyers: number;
  /** True: the primary acknowledges a commit only after the standby has written it (synchronous replication). */
  readonly synchronous: boolean;
}

/** How long the standby is disconnected before the primary dies. Asynchronous replication loses the commits of this time. */
const CUT_OFF_MS = 1000;
/** How long the services are connected to the standby before it is promoted. */
const READ_ONLY_MS = 1000;
/** Timeouts of the fans. They are short, because fans whose acknowledged requests are lost wait in vain for the result. */
const RETRY_LIMITS = { answerMs: 15_000, totalMs: 20_000 };

/**
 * Scenarios F10s (synchronous replication) and F10a (asynchronous): the network to the standby breaks under load, the primary is killed,
 * and the standby is promoted.
 */
export function standbyPromoted({ buyers, synchronous }: Sizes): Scenario {
  return {
    id: synchronous ? 'F10s' : 'F10a',
    title: `kill -9 of PostgreSQL under load, its ${synchronous ? 'synchronous' : 'asynchronous'} standby promoted`,
    needsServers: true,
    mayLose: !synchronous,
    limitMs: 180_000,
    async run(scene, check) {
      const { servers } = scene;
      if (!servers) throw new Error('this scenario kills a primary, so it needs its own servers');
      const [toPrimary, replication] = [await scene.proxyTo(scene.databaseUrl), await scene.proxyTo(scene.databaseUrl)];
      const standby = await servers.startStandby(replication.url);
      scene.onClose(() => restorePrimary(servers, standby));
      await waitUntilStandbyFollows(scene, synchronous);
      const addresses = { databaseUrl: toPrimary.url };
      await Promise.all([scene.start({}, addresses), scene.start({}, addresses)]);
      const match = await scene.openSale(300, 4);
      const load = new Buyers(scene, { match, count: buyers, sectors: 4, retryLimits: RETRY_LIMITS });
      check(await load.waitForPurchases(2 * buyers, 30_000), 'nothing is sold with a standby attached');

      const outage = await failOver(scene, { toPrimary, replication, standby });
      // Once the standby is cut off, a synchronous primary may acknowledge only commits whose confirmation by the standby was
      // already on its way.
      const isPlausible = synchronous ? outage.acknowledged <= buyers : outage.acknowledged > 2 * buyers;
      check(isPlausible, `${outage.acknowledged} acknowledged after the cut: the replication mode is not the expected one`);
      check(await load.waitForPurchases(2 * buyers, 60_000), 'no further purchases on the promoted standby');
      const outageMs = scene.history.longestGapMs(outage.cutOffAt, Date.now());
      await load.stop();
      return {
        replication: synchronous ? 'synchronous' : 'asynchronous',
        bought: load.bought,
        acknowledged_after_the_cut: outage.acknowledged,
        promoted_after_ms: outage.promotedAfterMs,
        outage_s: Math.round(outageMs / 100) / 10,
        ...(await resendAll(scene, synchronous, check)),
      };
    },
  };
}

/** Waits until the standby has replayed all changes and streams in the wanted replication mode. */
async function waitUntilStandbyFollows(scene: Scene, synchronous: boolean): Promise<void> {
  if (synchronous) await scene.rows(`alter system set synchronous_standby_names = 'ANY 1 (standby)'`);
  await scene.rows('select pg_reload_conf()');
  const wanted = synchronous ? 'quorum' : 'async';
  for (const giveUpAt = Date.now() + 20_000; ; await sleep(50)) {
    const [state] = await scene.rows<{ sync_state: string }>(
      `select sync_state from pg_stat_replication where state = 'streaming' and replay_lsn = pg_current_wal_lsn()`,
    );
    if (state?.sync_state === wanted) return;
    if (Date.now() > giveUpAt) throw new Error(`the standby does not follow: ${JSON.stringify(state)}`);
  }
}

interface FailoverParts {
  readonly toPrimary: TcpProxy;
  readonly replication: TcpProxy;
  readonly standby: Standby;
}

async function failOver(scene: Scene, { toPrimary, replication, standby }: FailoverParts) {
  const before = scene.history.acknowledged().length;
  const cutOffAt = Date.now();
  replication.silence();
  await sleep(CUT_OFF_MS);
  await scene.servers?.kill('postgres');
  const [killedAt, acknowledged] = [Date.now(), scene.history.acknowledged().length - before];
  // In practice the database address often points to the standby before it is promoted, while it still refuses writes.
  toPrimary.redirectTo(standby.url);
  await sleep(READ_ONLY_MS);
  const client = new pg.Client({ connectionString: standby.url });
  await client.connect();
  await client.query('select pg_promote(true, 30)');
  await client.end();
  scene.switchDatabase(standby.url);
  return { cutOffAt, acknowledged, promotedAfterMs: Date.now() - killedAt };
}

/** Sends all acknowledged requests again. With asynchronous replication, different answers are counted and are no fault. */
async function resendAll(scene: Scene, synchronous: boolean, check: Check) {
  let differentAnswers = 0;
  const { resent, replayed } = await resendAcknowledged(scene, (isTrue, fault) => {
    if (!isTrue) differentAnswers += 1;
    if (synchronous) check(isTrue, fault);
  });
  return { resent, replayed, answered_otherwise: differentAnswers };
}

/** Starts the killed primary again, without a standby, because the next scenario uses it. */
async function restorePrimary(servers: OwnServers, standby: Standby): Promise<void> {
  await standby.kill();
  await servers.start('postgres');
  const client = new pg.Client({ connectionString: servers.databaseUrl });
  await client.connect();
  await client.query('alter system reset synchronous_standby_names');
  await client.query('select pg_reload_conf()');
  await client.query('select pg_drop_replication_slot(slot_name) from pg_replication_slots');
  await client.end();
}
