import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { TcpProxy } from '#testing/tcp-proxy';
import type { OwnServers, Standby } from '../../../bench/instruments/own-servers.ts';
import { Buyers } from '../buyers.ts';
import type { Match } from '../fan.ts';
import { onServer } from '../replicated-servers.ts';
import type { Check, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

/** How old an answer without credentials may be. */
const MAX_AGE_MS = 5000;
/** How long a fault lasts: longer than the replica may be behind. */
const FAULT_MS = 7000;
/** The venue that only the promoted replica has. */
const SPLIT_BRAIN = 'Stadium 999999';
const OPERATOR = { 'x-mock-user-id': randomUUID(), 'x-mock-roles': 'ops', 'content-type': 'application/json' };

/**
 * Scenario F47: during a sale the replica of the database is cut off from its primary, does not replay, is unreachable, and is promoted.
 * In the meantime an operator changes a match again and again and reads it back through the other monolith. The negative control reads
 * the replica without any check, at the same moments.
 */
export function databaseReplicaLost({ buyers }: { buyers: number }): Scenario {
  return {
    id: 'F47',
    title: 'the replica of the database is cut off, late, unreachable and promoted during a sale',
    needsServers: true,
    limitMs: 240_000,
    async run(scene, check) {
      const { servers } = scene;
      if (!servers) throw new Error('this scenario promotes a replica, so it needs its own servers');
      const link = await scene.proxyTo(scene.databaseUrl);
      const standby = await servers.startStandby(link.url);
      scene.onClose(() => removeReplica(servers, standby));
      const toReplica = await scene.proxyTo(standby.url);
      const settings = { DATABASE_REPLICA_URL: databaseOf(scene, toReplica.url) };
      await Promise.all([scene.start(settings), scene.start(settings)]);
      const [sold, changed] = [await scene.openSale(300, 4), await scene.openSale(1)];
      const load = new Buyers(scene, { match: sold, count: buyers, sectors: 4 });
      const readers = new Readers(scene, sold, changed, databaseOf(scene, standby.url));
      try {
        return await breakReplica({ scene, check, load, readers, link, toReplica, standby });
      } finally {
        await Promise.all([load.stop(), readers.stop()]);
      }
    },
  };
}

interface Parts {
  readonly scene: Scene;
  readonly check: Check;
  readonly load: Buyers;
  readonly readers: Readers;
  readonly link: TcpProxy;
  readonly toReplica: TcpProxy;
  readonly standby: Standby;
}

async function breakReplica({ scene, check, load, readers, link, toReplica, standby }: Parts) {
  const sales = async (when: string) => check(await load.waitForPurchases(5, 30_000), `no purchases ${when}`);
  const readAgain = async (after: string) => check(await replicaIsRead(scene, 30_000), `the replica is not read again ${after}`);
  check(await replicaIsRead(scene, 30_000), 'the replica is never read');
  await sales('with a healthy replica');

  const lag: Record<string, number> = {};
  const faults: [name: string, begin: () => unknown, end: () => unknown][] = [
    ['cut_off', () => link.refuse(), () => link.restore()],
    [
      'not_replaying',
      () => onServer(standby.url, 'select pg_wal_replay_pause()'),
      () => onServer(standby.url, 'select pg_wal_replay_resume()'),
    ],
    ['unreachable', () => toReplica.refuse(), () => toReplica.restore()],
    ['silent', () => toReplica.silence(), () => toReplica.restore()],
  ];
  for (const [name, begin, end] of faults) {
    await begin();
    await sleep(FAULT_MS);
    await sales(`while the replica is ${name}`);
    lag[`lag_s_${name}`] = Math.round(await largest(scene, 'database_replica_lag_seconds'));
    check(Number(lag[`lag_s_${name}`]) >= 5, `the metric of the lag is ${lag[`lag_s_${name}`]} s while the replica is ${name}`);
    const [before] = [await total(scene, 'database_replica_reads_total'), await sleep(1000)];
    check((await total(scene, 'database_replica_reads_total')) === before, `the replica is read while it is ${name}`);
    await end();
    await readAgain(`after it was ${name}`);
  }

  await onServer(standby.url, 'select pg_promote(true, 30)');
  await onServer(
    databaseOf(scene, standby.url),
    `update matches set venue = '${SPLIT_BRAIN}' where id = '${readers.changed.id}'`,
  );
  await sleep(FAULT_MS / 2);
  await sales('after the replica was promoted');
  await load.stop();
  await readers.stop();
  const { reads, changes, failed, missedOwn, tooOld, splitBrain, control } = readers;
  check(failed.length === 0, `reads failed: ${failed.slice(0, 3).join(' | ')}`);
  check(missedOwn === 0, `${missedOwn} times an operator did not see the own change`);
  check(tooOld === 0, `${tooOld} answers were older than ${MAX_AGE_MS} ms`);
  check(splitBrain === 0, `${splitBrain} answers came from the promoted replica`);
  check(control.tooOld > 0 && control.splitBrain > 0, 'the negative control saw nothing old; the scenario proves nothing');
  const [byReplica, byPrimary] = [
    await total(scene, 'database_replica_reads_total'),
    await total(scene, 'database_replica_fallbacks_total'),
  ];
  check(byReplica > 100, `only ${byReplica} reads were answered by the replica`);
  return {
    ...{ bought: load.bought, reads, changes_read_back: changes, by_replica: byReplica, by_primary_instead: byPrimary, ...lag },
    slowest_read_ms: Math.round(readers.slowestMs),
    control_too_old: control.tooOld,
    control_from_the_promoted: control.splitBrain,
  };
}

/** People who look at matches during the faults, and an operator who changes one. */
class Readers {
  reads = 0;
  changes = 0;
  /** Answers other than 200, and requests without an answer. */
  readonly failed: string[] = [];
  missedOwn = 0;
  tooOld = 0;
  splitBrain = 0;
  slowestMs = 0;
  readonly control = { tooOld: 0, splitBrain: 0 };
  readonly #scene: Scene;
  readonly #sold: Match;
  readonly changed: Match;
  /** When the change with this number was acknowledged. */
  readonly #acknowledgedAt: number[] = [performance.now()];
  #isStopping = false;
  readonly #loops: Promise<void>[];

  constructor(scene: Scene, sold: Match, changed: Match, rawReplicaUrl: string) {
    this.#scene = scene;
    this.#sold = sold;
    this.changed = changed;
    this.#loops = [
      this.#repeat(() => this.#change()),
      this.#repeat(() => this.#look(`matches/${changed.id}`)),
      this.#repeat(() => this.#look('matches?limit=100')),
      this.#repeat(() => this.#report()),
      this.#control(rawReplicaUrl),
    ];
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#loops);
  }

  async #repeat(step: () => Promise<unknown>): Promise<void> {
    while (!this.#isStopping) {
      await step();
      await sleep(20);
    }
  }

  /** The operator changes the venue and reads it back, each time through the next monolith, on each route that shows it. */
  async #change(): Promise<void> {
    const number = this.#acknowledgedAt.length;
    const venue = `Stadium ${number}`;
    const headers = { ...OPERATOR, 'idempotency-key': randomUUID().replaceAll('-', '') };
    const request = { method: 'PATCH', headers, body: JSON.stringify({ venue }) };
    if (!(await this.#fetch(`ops/matches/${this.changed.id}`, request))) return;
    this.#acknowledgedAt.push(performance.now());
    this.changes += 1;
    for (const path of ['ops/matches?limit=100', `matches/${this.changed.id}`, 'matches?limit=100']) {
      const seen = this.#venueIn(await this.#fetch(path, { headers: OPERATOR }));
      if (seen !== undefined && seen !== venue) this.missedOwn += 1;
    }
  }

  /** Somebody without credentials looks at the match. */
  async #look(path: string): Promise<void> {
    const askedAt = performance.now();
    const venue = this.#venueIn(await this.#fetch(path));
    if (venue === SPLIT_BRAIN) this.splitBrain += 1;
    else if (venue !== undefined && this.#isTooOld(venue, askedAt)) this.tooOld += 1;
  }

  /** An operator reads the figures of the sale. */
  async #report(): Promise<void> {
    for (const path of [`ops/matches/${this.#sold.id}/report`, 'ops/orders?limit=20', `matches/${this.#sold.id}/sectors`])
      await this.#fetch(path, { headers: OPERATOR });
  }

  /** Reads the match from the replica without any check. */
  async #control(url: string): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await this.#repeat(async () => {
      const askedAt = performance.now();
      const { rows } = await client.query<{ venue: string }>('select venue from matches where id = $1', [this.changed.id]);
      const venue = rows[0]?.venue ?? '';
      if (venue === SPLIT_BRAIN) this.control.splitBrain += 1;
      else if (this.#isTooOld(venue, askedAt)) this.control.tooOld += 1;
    });
    await client.end();
  }

  /** Whether a newer change than this one was acknowledged more than 5 s before the question. */
  #isTooOld(venue: string, askedAt: number): boolean {
    const next = this.#acknowledgedAt[(Number(/^Stadium (\d+)$/.exec(venue)?.[1]) || 0) + 1];
    return next !== undefined && next < askedAt - MAX_AGE_MS;
  }

  #venueIn(answer: { items?: { id: string; venue: string }[]; venue?: string } | undefined): string | undefined {
    if (!answer) return undefined;
    return answer.items ? (answer.items.find(({ id }) => id === this.changed.id)?.venue ?? 'missing') : answer.venue;
  }

  async #fetch(path: string, request: RequestInit = {}) {
    const begunAt = performance.now();
    this.reads += 1;
    try {
      const url = `${this.#scene.nextReplica()?.url}/api/v1/${path}`;
      const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(10_000) });
      const text = await answer.text();
      this.slowestMs = Math.max(this.slowestMs, performance.now() - begunAt);
      if (answer.status === 200) return JSON.parse(text) as { items?: { id: string; venue: string }[]; venue?: string };
      this.failed.push(`${path}: ${answer.status} ${text.slice(0, 200)}`);
    } catch (error) {
      this.failed.push(`${path}: ${String(error)}`);
    }
    return undefined;
  }
}

/** The same database on another server. */
function databaseOf(scene: Scene, serverUrl: string): string {
  const url = new URL(serverUrl);
  url.pathname = new URL(scene.databaseUrl).pathname;
  return url.href;
}

/** Waits until each monolith has answered further reads from the replica. */
async function replicaIsRead(scene: Scene, withinMs: number): Promise<boolean> {
  const counts = () => Promise.all(scene.replicas.map((replica) => replica.metric('database_replica_reads_total')));
  const before = await counts();
  for (const giveUpAt = Date.now() + withinMs; Date.now() < giveUpAt; await sleep(100)) {
    const now = await counts();
    if (now.every(({ all = 0 }, index) => all > (before[index]?.all ?? 0))) return true;
  }
  return false;
}

async function valuesOf(scene: Scene, metric: string): Promise<number[]> {
  const values = await Promise.all(scene.replicas.map((replica) => replica.metric(metric)));
  return values.map(({ all = 0 }) => all);
}

const total = async (scene: Scene, metric: string) => (await valuesOf(scene, metric)).reduce((sum, value) => sum + value, 0);
const largest = async (scene: Scene, metric: string) => Math.max(...(await valuesOf(scene, metric)));

/** Ends the promoted replica. The next scenario uses the primary without a replica. */
async function removeReplica(servers: OwnServers, standby: Standby): Promise<void> {
  await standby.kill();
  await onServer(servers.databaseUrl, 'select pg_drop_replication_slot(slot_name) from pg_replication_slots');
}
