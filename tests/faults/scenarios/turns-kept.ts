import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startQueueService, type RunningService } from '../../../bench/instruments/service.ts';
import type { Fan, Match } from '../fan.ts';
import { startRedisCluster } from '../redis-servers.ts';
import type { Check, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

interface Sizes {
  readonly fans: number;
  readonly wipes: number;
  readonly windows: number;
  /** Whether to use a Redis cluster, and flush only the master that stores the match. */
  readonly cluster?: true;
}

interface QueueEntry {
  readonly status: string;
  readonly position: number | null;
  readonly receipt: string | null;
  readonly session_token?: string;
}

interface Answer {
  readonly status: number;
  readonly body: Partial<QueueEntry>;
}

/** A turn as it is stored in PostgreSQL. */
interface Turn {
  readonly user_id: string;
  readonly session_token: string;
}

const MAX_RESTORE_MS = 5000;

/**
 * Scenario F45: Redis loses all data several times while turns are granted and fans join, buy and leave. There are never more valid
 * turns than allowed, and no fan has two turns. Every turn that PostgreSQL had stored before a loss is still valid afterwards. A
 * turn that PostgreSQL had not stored is refused. A receipt (signed text that restores a fan's position in the line) is worthless
 * once the fan has used the turn of this position: the fan joins at the end of the line.
 */
export function turnsKept({ fans, wipes, windows, cluster }: Sizes): Scenario {
  const server = cluster ? 'the master of a match' : 'Redis';
  return {
    id: cluster ? 'F45c' : 'F45',
    title: `${server} loses all data ${wipes} times while turns are granted`,
    limitMs: 60_000 + wipes * 8000,
    async run(scene, check) {
      const redis = cluster ? await startCluster(scene) : { url: scene.redisUrl, wipe: () => scene.redis.flush() };
      const settings = { REDIS_URL: redis.url, RATE_LIMIT_IP_PER_MINUTE: '0', LOG_LEVEL: 'fatal' };
      const pods = [await startQueueService(settings), await startQueueService(settings)];
      for (const pod of pods) scene.onClose(() => pod.stop());
      const start = () => scene.start({ QUEUE_INTERNAL_URL: pods[0]!.url }, { redisUrl: redis.url });
      await Promise.all([start(), start()]);
      const match = await scene.openSale(100, 2, { queue_required: true, processing_rate: 6000, max_open_windows: windows });
      const database = new pg.Pool({ connectionString: scene.databaseUrl, max: 3 });
      scene.onClose(() => database.end());
      const line = new ObservedLine({ scene, pods, match, check, database });
      await line.waitUntilOpen();
      const fanLoops = Array.from({ length: fans }, (_, number) => line.runFan(number));
      const watching = line.watchTurns(windows);
      await sleep(1500);
      let longestMs = 0;
      for (let wipe = 0; wipe < wipes; wipe += 1) {
        const before = await line.validTurns();
        await redis.wipe(match.id);
        longestMs = Math.max(longestMs, await line.waitUntilOpen());
        await line.checkTurnsKept(before);
        await sleep(Math.random() * 400);
      }
      check(longestMs < MAX_RESTORE_MS, `the waiting room was unavailable for ${longestMs} ms`);
      await sleep(1000);
      line.isOver = true;
      await Promise.all(fanLoops);
      const maxValid = await watching;
      check(
        maxValid >= windows * 0.75,
        `at most ${maxValid} of ${windows} turns were valid at a time: too few to prove anything`,
      );
      check(line.bought > fans / 4, `only ${line.bought} purchases`);
      await line.checkVoidTurnsRefused();
      const [row] = await scene.rows<{ n: number }>('select count(*)::int as n from purchase_windows where match_id = $1', [
        match.id,
      ]);
      return {
        wipes,
        turns: row?.n ?? 0,
        bought: line.bought,
        left: line.givenUpTokens.size,
        void_turns: line.voidTurns.length,
        kept_turns_checked: line.checked,
        longest_restoring_ms: longestMs,
      };
    },
  };
}

async function startCluster(scene: Scene): Promise<{ url: string; wipe: (matchId: string) => Promise<void> }> {
  const { servers, stop } = await startRedisCluster();
  scene.onClose(stop);
  const bounds = [5461, 10_923, 16_384];
  return {
    url: servers.map(({ url }) => url).join(),
    wipe: async (matchId) => {
      const slot = await servers[0]!.client.cluster('KEYSLOT', `{${matchId}}`);
      await servers[bounds.findIndex((bound) => slot < bound)]!.client.flushall();
    },
  };
}

/** Runs the fans of one match and compares their turns with the database. */
class ObservedLine {
  isOver = false;
  bought = 0;
  checked = 0;
  /** Session tokens of turns that fans gave up by leaving the line, once the service has acknowledged it. */
  readonly givenUpTokens = new Set<string>();
  readonly voidTurns: { fan: Fan; token: string }[] = [];
  /** Granted session tokens and their fans. */
  readonly #grantedTokens = new Map<string, Fan>();
  readonly #scene: Scene;
  readonly #pods: readonly RunningService[];
  readonly #match: Match;
  readonly #check: Check;
  readonly #database: pg.Pool;
  #nextIndex = 0;

  constructor(parts: { scene: Scene; pods: readonly RunningService[]; match: Match; check: Check; database: pg.Pool }) {
    this.#scene = parts.scene;
    this.#pods = parts.pods;
    this.#match = parts.match;
    this.#check = parts.check;
    this.#database = parts.database;
  }

  /** Waits until the waiting room answers requests for the match. Returns the waiting time in milliseconds. */
  async waitUntilOpen(): Promise<number> {
    const startedAt = performance.now();
    for (;;) {
      const { status } = await this.#call('GET', 'status', randomUUID());
      const ms = Math.round(performance.now() - startedAt);
      if (status === 200) return ms;
      if (ms > 4 * MAX_RESTORE_MS) throw new Error('the waiting room does not become available again');
      await sleep(20);
    }
  }

  /** Runs one fan after the other: each waits for a turn, then buys or leaves, half of the fans after a pause. Some fans join again. */
  async runFan(number: number): Promise<void> {
    for (let round = number; !this.isOver; round += 1) {
      const fan = this.#scene.fan();
      const granted = await this.#waitForTurn(fan);
      if (!granted) continue;
      const { receipt } = granted;
      fan.sessionToken = granted.session_token;
      // Half of the fans pause, so that turns are open when Redis is wiped.
      if (round % 2 === 0) await sleep(Math.random() * 3000);
      if (round % 4 === 1) await this.#leave(fan);
      else if (await fan.buy(this.#match, { sector: round % 2, quantity: 1 })) this.bought += 1;
      else await this.#leave(fan);
      if (round % 3 === 0 && receipt) await this.#joinAgain(fan, receipt);
    }
  }

  /** Checks until the end that no more than `allowed` turns are valid and no fan has two. Returns the highest number of valid turns. */
  async watchTurns(allowed: number): Promise<number> {
    let maxValid = 0;
    while (!this.isOver) {
      // A turn does not count if it was given up before or during the query.
      const givenUpBefore = new Set(this.givenUpTokens);
      const valid = (await this.validTurns()).filter(({ session_token }) => !givenUpBefore.has(session_token));
      const stillValid = valid.filter(({ session_token }) => !this.givenUpTokens.has(session_token));
      maxValid = Math.max(maxValid, stillValid.length);
      this.#check(stillValid.length <= allowed, `${stillValid.length} turns are valid where ${allowed} are allowed`);
      const fans = new Set(stillValid.map(({ user_id }) => user_id));
      this.#check(fans.size === stillValid.length, 'a fan has two valid turns');
      await sleep(40);
    }
    return maxValid;
  }

  validTurns(): Promise<Turn[]> {
    return this.#rows<Turn>(
      'select user_id, session_token from purchase_windows where match_id = $1 and ended_at is null and expires_at > now()',
      [this.#match.id],
    );
  }

  /** Checks that turns stored before a wipe are still valid, unless their fans have used or given them up meanwhile. */
  async checkTurnsKept(turns: readonly Turn[]): Promise<void> {
    await Promise.all(turns.map((turn) => this.#checkTurnKept(turn)));
  }

  async #checkTurnKept({ user_id: user, session_token: token }: Turn): Promise<void> {
    const { status, body } = await this.#call('GET', 'position', user);
    if (status === 200 && body.status === 'granted' && body.session_token === token) {
      this.checked += 1;
      return;
    }
    const [row] = await this.#rows<{ ended: boolean }>(
      'select ended_at is not null or expires_at <= now() as ended from purchase_windows where session_token = $1',
      [token],
    );
    this.#check(row?.ended === true || this.givenUpTokens.has(token), `a stored turn was lost: ${status} ${body.status}`);
  }

  async #rows<T extends pg.QueryResultRow>(sql: string, parameters: unknown[]): Promise<T[]> {
    return (await this.#database.query<T>(sql, parameters)).rows;
  }

  /** Checks that holds are refused for turns that a fan was granted but the database never stored. */
  async checkVoidTurnsRefused(): Promise<void> {
    for (const [token, fan] of this.#grantedTokens) {
      const stored = await this.#rows('select 1 from purchase_windows where session_token = $1', [token]);
      if (stored.length > 0) continue;
      this.voidTurns.push({ fan, token });
      fan.sessionToken = token;
      const { status, code } = await fan.sendOnce(fan.holdRequest(this.#match, { quantity: 1 }));
      this.#check(status === 403, `a void turn was answered ${status} ${code}`);
    }
  }

  async #waitForTurn(fan: Fan): Promise<QueueEntry | undefined> {
    let receipt: string | null = null;
    let isJoined = false;
    while (!this.isOver) {
      const joinBody: object = receipt === null ? {} : { receipt };
      const answer: Answer = isJoined
        ? await this.#call('GET', 'position', fan.userId)
        : await this.#call('POST', 'join', fan.userId, joinBody);
      if (answer.status < 300) {
        isJoined = true;
        receipt = answer.body.receipt ?? receipt;
        if (answer.body.session_token) {
          this.#grantedTokens.set(answer.body.session_token, fan);
          return answer.body as QueueEntry;
        }
        if (answer.body.status !== 'waiting') return undefined;
      } else if (answer.status === 404) {
        isJoined = false;
      } else {
        this.#check(answer.status === 503, `joining was answered ${answer.status}`);
      }
      await sleep(50 + Math.random() * 50);
    }
    return undefined;
  }

  async #leave(fan: Fan): Promise<void> {
    const { status } = await this.#call('DELETE', '', fan.userId);
    if (status === 204 && fan.sessionToken) this.givenUpTokens.add(fan.sessionToken);
  }

  /** Joins with the receipt of an entry whose turn is over. The fan must get a new entry at the end of the line. */
  async #joinAgain(fan: Fan, receipt: string): Promise<void> {
    const [row] = await this.#rows<{ ended: boolean }>(
      'select ended_at is not null as ended from purchase_windows where session_token = $1',
      [fan.sessionToken],
    );
    const { status, body } = await this.#call('POST', 'join', fan.userId, { receipt });
    // This holds only for a turn whose end is stored in the database. After a loss of Redis the waiting room cannot know of any
    // other used turn.
    if (status < 300 && row?.ended && body.status === 'waiting')
      this.#check(scoreOf(body.receipt!) > scoreOf(receipt), 'a receipt from before a used turn gave an earlier position');
    await this.#leave(fan);
  }

  async #call(method: string, path: string, user: string, body?: object): Promise<Answer> {
    this.#nextIndex += 1;
    const pod = this.#pods[this.#nextIndex % this.#pods.length]!;
    const headers = { 'x-mock-user-id': user, ...(body ? { 'content-type': 'application/json' } : {}) };
    const response = await fetch(`${pod.url}/api/v1/queue/${this.#match.id}${path && `/${path}`}`, {
      ...{ method, headers, signal: AbortSignal.timeout(10_000) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Partial<QueueEntry>) };
  }
}

function scoreOf(receipt: string): number {
  return Number(receipt.split('.')[1]);
}
