import type { TcpProxy } from '#testing/tcp-proxy';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { OwnServers, Standby } from '../../../bench/instruments/own-servers.ts';
import { Crowd } from '../crowd.ts';
import { resend } from '../resend.ts';
import type { Claim, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

interface Sizes {
  readonly buyers: number;
  /** The primary acknowledges nothing its standby has not written. */
  readonly synchronous: boolean;
}

/** So long the standby hears nothing before the primary dies: its lag, which asynchronous replication loses. */
const CUT_OFF_MS = 1000;
/** So long everybody is at the standby before it is promoted. */
const READ_ONLY_MS = 1000;
/** Who was promised what is lost asks in vain; nobody is to wait longer than this for it. */
const PATIENCE = { answerMs: 15_000, totalMs: 20_000 };

/** F10, second half: the network to the standby breaks under load, the primary is killed, and the standby takes over. */
export function standbyPromoted({ buyers, synchronous }: Sizes): Scenario {
  return {
    id: synchronous ? 'F10s' : 'F10a',
    title: `kill -9 of PostgreSQL under load, its ${synchronous ? 'synchronous' : 'asynchronous'} standby promoted`,
    needsServers: true,
    mayLose: !synchronous,
    limitMs: 180_000,
    async play(scene, claim) {
      const { servers } = scene;
      if (!servers) throw new Error('a primary is killed here: it needs servers of its own');
      const [toPrimary, replication] = [await scene.proxyTo(scene.databaseUrl), await scene.proxyTo(scene.databaseUrl)];
      const standby = await servers.startStandby(replication.url);
      scene.atTheEnd(() => putBack(servers, standby));
      await follows(scene, synchronous);
      const where = { databaseUrl: toPrimary.url };
      await Promise.all([scene.start({}, where), scene.start({}, where)]);
      const match = await scene.onSale(300, 4);
      const crowd = new Crowd(scene, { match, buyers, sectors: 4, patience: PATIENCE });
      claim(await crowd.sells(2 * buyers, 30_000), 'nothing is sold beside a standby');

      const outage = await failOver(scene, { toPrimary, replication, standby });
      // What was on its way back when the network broke is all a synchronous primary may still say.
      const isTold = synchronous ? outage.acknowledged <= buyers : outage.acknowledged > 2 * buyers;
      claim(isTold, `${outage.acknowledged} acknowledged without the standby: this compares nothing`);
      claim(await crowd.sells(2 * buyers, 60_000), 'the sale does not go on at the promoted standby');
      const outageMs = scene.history.longestSilence(outage.cutOffAt, Date.now());
      await crowd.stop();
      return {
        replication: synchronous ? 'synchronous' : 'asynchronous',
        bought: crowd.bought,
        acknowledged_after_the_cut: outage.acknowledged,
        promoted_after_ms: outage.promotedAfterMs,
        outage_s: Math.round(outageMs / 100) / 10,
        ...(await askAgain(scene, synchronous, claim)),
      };
    },
  };
}

/** Waits until the standby has all, and writes along. */
async function follows(scene: Scene, synchronous: boolean): Promise<void> {
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

interface Players {
  readonly toPrimary: TcpProxy;
  readonly replication: TcpProxy;
  readonly standby: Standby;
}

async function failOver(scene: Scene, { toPrimary, replication, standby }: Players) {
  const before = scene.history.acknowledged().length;
  const cutOffAt = Date.now();
  replication.silence();
  await sleep(CUT_OFF_MS);
  await scene.servers?.kill('postgres');
  const [killedAt, acknowledged] = [Date.now(), scene.history.acknowledged().length - before];
  // The address often leads there before it is promoted: a server that reads and refuses to write.
  toPrimary.leadTo(standby.url);
  await sleep(READ_ONLY_MS);
  const client = new pg.Client({ connectionString: standby.url });
  await client.connect();
  await client.query('select pg_promote(true, 30)');
  await client.end();
  scene.failOver(standby.url);
  return { cutOffAt, acknowledged, promotedAfterMs: Date.now() - killedAt };
}

/** Everything with its key again. What is lost is answered anew, or as Redis remembers it: counted, where it may be lost. */
async function askAgain(scene: Scene, synchronous: boolean, claim: Claim) {
  let otherwise = 0;
  const { resent, replayed } = await resend(scene, (isTrue, said) => {
    if (!isTrue) otherwise += 1;
    if (synchronous) claim(isTrue, said);
  });
  return { resent, replayed, answered_otherwise: otherwise };
}

/** The first server is what the next scenario works with: alone again, as it was. */
async function putBack(servers: OwnServers, standby: Standby): Promise<void> {
  await standby.kill();
  await servers.start('postgres');
  const client = new pg.Client({ connectionString: servers.databaseUrl });
  await client.connect();
  await client.query('alter system reset synchronous_standby_names');
  await client.query('select pg_reload_conf()');
  await client.query('select pg_drop_replication_slot(slot_name) from pg_replication_slots');
  await client.end();
}
