import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startQueueService, type RunningService } from '../../../bench/instruments/service.ts';
import { clusterSlot } from '../../../apps/queue-service/src/waiting-room/outbound/match-keys.ts';
import type { Fan, Match } from '../fan.ts';
import { startRedisCluster } from '../redis-servers.ts';
import type { Claim, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

interface Sizes {
  readonly fans: number;
  readonly wipes: number;
  readonly windows: number;
  /** Redis is a cluster, and only the master that has the match loses its data. */
  readonly cluster?: true;
}

interface Place {
  readonly status: string;
  readonly position: number | null;
  readonly receipt: string | null;
  readonly session_token?: string;
}

interface Answer {
  readonly status: number;
  readonly body: Partial<Place>;
}

/** A turn as PostgreSQL has it. */
interface Turn {
  readonly user_id: string;
  readonly session_token: string;
}

const RESTORED_WITHIN_MS = 5000;

/**
 * F45: Redis loses everything in the middle of admission, again and again, while fans join, buy and leave. There are never more valid
 * turns than allowed, no fan has two, every turn that PostgreSQL had stored before a wipe is still there and usable, a turn that it
 * had not stored is worth nothing, and neither is a receipt from before a used turn.
 */
export function turnsKept({ fans, wipes, windows, cluster }: Sizes): Scenario {
  const where = cluster ? 'the master of a match' : 'Redis';
  return {
    id: cluster ? 'F45c' : 'F45',
    title: `${where} loses everything ${wipes} times in the middle of admission`,
    limitMs: 60_000 + wipes * 8000,
    async play(scene, claim) {
      const redis = cluster ? await ownCluster(scene) : { url: scene.redisUrl, wipe: () => scene.redis.flush() };
      const settings = { REDIS_URL: redis.url, RATE_LIMIT_IP_PER_MINUTE: '0', LOG_LEVEL: 'fatal' };
      const pods = [await startQueueService(settings), await startQueueService(settings)];
      for (const pod of pods) scene.atTheEnd(() => pod.stop());
      const start = () => scene.start({ QUEUE_INTERNAL_URL: pods[0]!.url }, { redisUrl: redis.url });
      await Promise.all([start(), start()]);
      const match = await scene.onSale(100, 2, { queue_required: true, processing_rate: 6000, max_open_windows: windows });
      const database = new pg.Pool({ connectionString: scene.databaseUrl, max: 3 });
      scene.atTheEnd(() => database.end());
      const line = new Line({ scene, pods, match, claim, database });
      await line.isOpen();
      const crowd = Array.from({ length: fans }, (_, number) => line.liveOf(number));
      const watch = line.watch(windows);
      await sleep(1500);
      let longestMs = 0;
      for (let wipe = 0; wipe < wipes; wipe += 1) {
        const before = await line.validTurns();
        await redis.wipe(match.id);
        longestMs = Math.max(longestMs, await line.isOpen());
        await line.areThere(before);
        await sleep(Math.random() * 400);
      }
      claim(longestMs < RESTORED_WITHIN_MS, `the waiting room was away for ${longestMs} ms`);
      await sleep(1000);
      line.isOver = true;
      await Promise.all(crowd);
      const most = await watch;
      claim(most >= windows * 0.75, `at most ${most} of ${windows} turns were valid at a time: this proves nothing`);
      claim(line.bought > fans / 4, `only ${line.bought} purchases`);
      await line.voidTurnsAreWorthNothing();
      const [row] = await scene.rows<{ n: number }>('select count(*)::int as n from purchase_windows where match_id = $1', [
        match.id,
      ]);
      return {
        wipes,
        turns: row?.n ?? 0,
        bought: line.bought,
        left: line.left.size,
        void_turns: line.voidTurns.length,
        kept_turns_checked: line.checked,
        longest_restoring_ms: longestMs,
      };
    },
  };
}

async function ownCluster(scene: Scene): Promise<{ url: string; wipe: (matchId: string) => Promise<void> }> {
  const { servers, stop } = await startRedisCluster();
  scene.atTheEnd(stop);
  const bounds = [5461, 10_923, 16_384];
  return {
    url: servers.map(({ url }) => url).join(),
    wipe: async (matchId) => {
      const slot = clusterSlot(`{${matchId}}`);
      await servers[bounds.findIndex((bound) => slot < bound)]!.client.flushall();
    },
  };
}

/** The line of one match, as its fans and the database see it. */
class Line {
  isOver = false;
  bought = 0;
  checked = 0;
  /** Tokens of turns whose giving up was acknowledged. */
  readonly left = new Set<string>();
  readonly voidTurns: { fan: Fan; token: string }[] = [];
  readonly #seen = new Map<string, Fan>();
  readonly #scene: Scene;
  readonly #pods: readonly RunningService[];
  readonly #match: Match;
  readonly #claim: Claim;
  readonly #database: pg.Pool;
  #turn = 0;

  constructor(parts: { scene: Scene; pods: readonly RunningService[]; match: Match; claim: Claim; database: pg.Pool }) {
    this.#scene = parts.scene;
    this.#pods = parts.pods;
    this.#match = parts.match;
    this.#claim = parts.claim;
    this.#database = parts.database;
  }

  /** Resolves when the waiting room answers; after how many milliseconds. */
  async isOpen(): Promise<number> {
    const startedAt = performance.now();
    for (;;) {
      const { status } = await this.#ask('GET', 'status', randomUUID());
      const ms = Math.round(performance.now() - startedAt);
      if (status === 200) return ms;
      if (ms > 4 * RESTORED_WITHIN_MS) throw new Error('the waiting room does not come back');
      await sleep(20);
    }
  }

  /** Fans come one after the other: wait for the turn, then buy, leave, or do nothing for a while; some come again afterwards. */
  async liveOf(number: number): Promise<void> {
    for (let round = number; !this.isOver; round += 1) {
      const fan = this.#scene.fan();
      const granted = await this.#waitForTurn(fan);
      if (!granted) continue;
      const { receipt } = granted;
      fan.turn = granted.session_token;
      // Half of them think for a while, so that turns are open when Redis is wiped.
      if (round % 2 === 0) await sleep(Math.random() * 3000);
      if (round % 4 === 1) await this.#leave(fan);
      else if (await fan.buy(this.#match, { sector: round % 2, quantity: 1 })) this.bought += 1;
      else await this.#leave(fan);
      if (round % 3 === 0 && receipt) await this.#comesAgain(fan, receipt);
    }
  }

  /** Never more valid turns than allowed, and no fan with two. Returns how many there were at most. */
  async watch(allowed: number): Promise<number> {
    let most = 0;
    while (!this.isOver) {
      // Read before, so that a turn given up in between does not count.
      const gone = new Set(this.left);
      const valid = (await this.validTurns()).filter(({ session_token }) => !gone.has(session_token));
      const still = valid.filter(({ session_token }) => !this.left.has(session_token));
      most = Math.max(most, still.length);
      this.#claim(still.length <= allowed, `${still.length} turns are valid where ${allowed} are allowed`);
      const fans = new Set(still.map(({ user_id }) => user_id));
      this.#claim(fans.size === still.length, 'a fan has two valid turns');
      await sleep(40);
    }
    return most;
  }

  validTurns(): Promise<Turn[]> {
    return this.#rows<Turn>(
      'select user_id, session_token from purchase_windows where match_id = $1 and ended_at is null and expires_at > now()',
      [this.#match.id],
    );
  }

  /** These turns were stored before a wipe: their fans have them still, unless they have used or given them up meanwhile. */
  async areThere(turns: readonly Turn[]): Promise<void> {
    await Promise.all(turns.map((turn) => this.#isThere(turn)));
  }

  async #isThere({ user_id: user, session_token: token }: Turn): Promise<void> {
    const { status, body } = await this.#ask('GET', 'position', user);
    if (status === 200 && body.status === 'granted' && body.session_token === token) {
      this.checked += 1;
      return;
    }
    const [row] = await this.#rows<{ ended: boolean }>(
      'select ended_at is not null or expires_at <= now() as ended from purchase_windows where session_token = $1',
      [token],
    );
    this.#claim(row?.ended === true || this.left.has(token), `a stored turn is gone: ${status} ${body.status}`);
  }

  async #rows<T extends pg.QueryResultRow>(sql: string, parameters: unknown[]): Promise<T[]> {
    return (await this.#database.query<T>(sql, parameters)).rows;
  }

  /** What a fan saw as granted, and the database never stored. */
  async voidTurnsAreWorthNothing(): Promise<void> {
    for (const [token, fan] of this.#seen) {
      const stored = await this.#rows('select 1 from purchase_windows where session_token = $1', [token]);
      if (stored.length > 0) continue;
      this.voidTurns.push({ fan, token });
      fan.turn = token;
      const { status, code } = await fan.ask(fan.holding(this.#match, { quantity: 1 }));
      this.#claim(status === 403, `a void turn was answered ${status} ${code}`);
    }
  }

  async #waitForTurn(fan: Fan): Promise<Place | undefined> {
    let receipt: string | null = null;
    let isJoined = false;
    while (!this.isOver) {
      const shown: object = receipt === null ? {} : { receipt };
      const answer: Answer = isJoined
        ? await this.#ask('GET', 'position', fan.userId)
        : await this.#ask('POST', 'join', fan.userId, shown);
      if (answer.status < 300) {
        isJoined = true;
        receipt = answer.body.receipt ?? receipt;
        if (answer.body.session_token) {
          this.#seen.set(answer.body.session_token, fan);
          return answer.body as Place;
        }
        if (answer.body.status !== 'waiting') return undefined;
      } else if (answer.status === 404) {
        isJoined = false;
      } else {
        this.#claim(answer.status === 503, `joining was answered ${answer.status}`);
      }
      await sleep(50 + Math.random() * 50);
    }
    return undefined;
  }

  async #leave(fan: Fan): Promise<void> {
    const { status } = await this.#ask('DELETE', '', fan.userId);
    if (status === 204 && fan.turn) this.left.add(fan.turn);
  }

  /** With the receipt of the place whose turn is over: it must be a new place, behind everybody who waits. */
  async #comesAgain(fan: Fan, receipt: string): Promise<void> {
    const [row] = await this.#rows<{ ended: boolean }>(
      'select ended_at is not null as ended from purchase_windows where session_token = $1',
      [fan.turn],
    );
    const { status, body } = await this.#ask('POST', 'join', fan.userId, { receipt });
    // Only a turn that the database has stored, and knows to be over, can be told from one that was lost.
    if (status < 300 && row?.ended && body.status === 'waiting')
      this.#claim(scoreOf(body.receipt!) > scoreOf(receipt), 'a receipt from before a used turn was honoured');
    await this.#leave(fan);
  }

  async #ask(method: string, call: string, user: string, body?: object): Promise<Answer> {
    this.#turn += 1;
    const pod = this.#pods[this.#turn % this.#pods.length]!;
    const headers = { 'x-mock-user-id': user, ...(body ? { 'content-type': 'application/json' } : {}) };
    const response = await fetch(`${pod.url}/api/v1/queue/${this.#match.id}${call && `/${call}`}`, {
      ...{ method, headers, signal: AbortSignal.timeout(10_000) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Partial<Place>) };
  }
}

function scoreOf(receipt: string): number {
  return Number(receipt.split('.')[1]);
}
