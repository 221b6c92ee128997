import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startQueueService } from '../../../bench/instruments/service.ts';
import type { Match } from '../fan.ts';
import type { Claim, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

interface Sizes {
  readonly fans: number;
  readonly cuts: number;
  readonly downMs: number;
}

interface Told {
  readonly event: string;
  readonly user_id: string;
  readonly session_token?: string;
}

const OVER_WITHIN_MS = 40_000;
const PUSH_OF: Readonly<Record<string, string>> = {
  'queue.turn_granted': 'queue_your_turn',
  'queue.front_reached': 'queue_front',
};

/**
 * F06: while turns are granted, replicas do not hear of them, and then none of them lives. No turn and no push is lost or doubled.
 * The control hears what is published where they do, and nothing else.
 */
export function turnsUnheard({ fans: count, cuts, downMs }: Sizes): Scenario {
  return {
    id: 'F06',
    title: `turns nobody hears of: ${cuts} cuts, then no replica for ${downMs / 1000} s`,
    limitMs: 90_000 + downMs + count * 500,
    async play(scene, claim) {
      const queue = await startQueueService({
        ...{ REDIS_URL: scene.redisUrl, RATE_LIMIT_IP_PER_MINUTE: '0', LOG_LEVEL: 'fatal', QUEUE_PRESENCE_SECONDS: '4' },
      });
      scene.atTheEnd(() => queue.stop());
      const network = await scene.proxyTo(scene.redisUrl);
      const settings = { QUEUE_INTERNAL_URL: queue.url };
      const start = () => scene.start(settings, { redisUrl: network.url });
      const replicas = [await start(), await start()];
      const control = new Hearsay(network.url);
      scene.atTheEnd(async () => control.end());
      await control.begin();
      const match = await scene.onSale(50, 1, { queue_required: true, processing_rate: 600, max_open_windows: count });
      const fans = Array.from({ length: count }, () => randomUUID());
      for (const fan of fans) await bringPhone(scene, fan);
      await whenOpen(queue.url, match);
      const redis = new Redis(scene.redisUrl);
      scene.atTheEnd(async () => redis.disconnect());
      const events = async (): Promise<Told[]> => {
        const entries = await redis.xrange(`queue_events_log:{${match.id}}`, '-', '+');
        return entries.map(([, fields]) => JSON.parse(fields[1]!) as Told);
      };
      for (const fan of fans) await ask(queue.url, match, fan, 'POST', 'join');
      // Every other one is awake; the others are called to the front.
      const awake = fans.filter((_, at) => at % 2 === 0);
      let isOver = false;
      const polling = (async () => {
        for (; !isOver; await sleep(1000)) await Promise.all(awake.map((fan) => ask(queue.url, match, fan, 'GET', 'position')));
      })();
      let refused = 0;
      for (let cut = 0; cut < cuts; cut += 1) {
        network.refuse();
        await sleep(300);
        network.restore();
        refused += await wrongRefusals(scene, match, (await events()).slice(-5));
        await sleep(400);
      }
      claim(refused === 0, `${refused} holds with a turn nobody had heard of were refused`);
      for (const replica of replicas) await replica.kill();
      control.end();
      await sleep(downMs);
      const startedAt = Date.now();
      await control.begin();
      await Promise.all([start(), start()]);
      const overAt = await untilAllIsKnown({ scene, redis, match, events, claim }, awake.length);
      isOver = true;
      await polling;
      const granted = (await events()).filter(({ event }) => event === 'queue.turn_granted');
      const lost = granted.filter(({ session_token = '' }) => !control.heard.has(session_token)).length;
      const heard = granted.length - lost;
      claim(lost > 0 && heard > 0, `who only listens has heard of ${heard} turns of ${granted.length}: this proves nothing`);
      return {
        fans: count,
        awake: awake.length,
        over_after_ms: overAt - startedAt,
        the_control_heard_of: heard,
        and_missed: lost,
      };
    },
  };
}

/** Somebody who knows of turns what is published while they listen. */
class Hearsay {
  readonly heard = new Set<string>();
  private readonly url: string;
  private connection: Redis | undefined;

  constructor(url: string) {
    this.url = url;
  }

  async begin(): Promise<void> {
    this.connection = new Redis(this.url, { maxRetriesPerRequest: null });
    this.connection.on('error', () => undefined);
    this.connection.on('message', (_channel: string, text: string) => {
      const { session_token } = JSON.parse(text) as Told;
      if (session_token) this.heard.add(session_token);
    });
    await this.connection.subscribe('queue_events');
  }

  end(): void {
    this.connection?.disconnect();
  }
}

interface Sale {
  readonly scene: Scene;
  readonly redis: Redis;
  readonly match: Match;
  readonly events: () => Promise<Told[]>;
  readonly claim: Claim;
}

/** Every turn stands in PostgreSQL, and every event has become its one push. Returns when. */
async function untilAllIsKnown({ scene, redis, match, events, claim }: Sale, turns: number): Promise<number> {
  let [windows, granted, missing, twice]: [number, Told[], string[], string[]] = [0, [], [], []];
  for (const giveUpAt = Date.now() + OVER_WITHIN_MS; Date.now() < giveUpAt; await sleep(100)) {
    const told = await events();
    granted = told.filter(({ event }) => event === 'queue.turn_granted');
    const [row] = await scene.rows<{ n: number }>(
      'select count(*)::int as n from purchase_windows where match_id = $1 and session_token = any($2)',
      [match.id, granted.map(({ session_token }) => session_token)],
    );
    windows = row?.n ?? 0;
    const expected = told.filter(({ event }) => PUSH_OF[event]).map(({ event, user_id }) => `${PUSH_OF[event]} ${user_id}`);
    const pushed = await pushesIn(redis);
    missing = expected.filter((push) => !pushed.includes(push));
    twice = pushed.filter((push, at) => pushed.indexOf(push) !== at);
    if (granted.length >= turns && windows === granted.length && missing.length === 0) break;
  }
  claim(granted.length >= turns, `${granted.length} of ${turns} who were awake have a turn`);
  claim(windows === granted.length, `${windows} of ${granted.length} turns are known`);
  claim(missing.length === 0, `${missing.length} pushes are missing, as ${missing[0]}`);
  claim(twice.length === 0, `${twice.length} pushes are there twice, as ${twice[0]}`);
  return Date.now();
}

/** No worker runs: every push ever queued is still there. */
async function pushesIn(redis: Redis): Promise<string[]> {
  const names = await redis.keys('{notification}:push-priority:*-*-*');
  const jobs = await Promise.all(names.map((name) => redis.hget(name, 'data').catch(() => null)));
  return jobs.flatMap((text) => {
    if (!text) return [];
    const { template, user_id } = JSON.parse(text) as { template: string; user_id: string };
    return [`${template} ${user_id}`];
  });
}

function ask(url: string, match: Match, fan: string, method: string, call: string): Promise<Response> {
  return fetch(`${url}/api/v1/queue/${match.id}/${call}`, { method, headers: { 'x-mock-user-id': fan } });
}

async function whenOpen(url: string, match: Match): Promise<void> {
  for (const giveUpAt = Date.now() + 15_000; Date.now() < giveUpAt; await sleep(50)) {
    const response = await fetch(`${url}/api/v1/queue/${match.id}/status`);
    if (response.ok && ((await response.json()) as { status: string }).status === 'active') return;
  }
  throw new Error('the waiting room was not told of the match');
}

const keyed = (fan: string): Record<string, string> => ({
  ...{ 'content-type': 'application/json', 'x-mock-user-id': fan },
  'idempotency-key': randomUUID().replaceAll('-', ''),
});

async function bringPhone(scene: Scene, fan: string): Promise<void> {
  const response = await fetch(`${scene.anyReplica()?.url}/api/v1/me/devices/phone`, {
    ...{ method: 'PUT', headers: keyed(fan), body: JSON.stringify({ fcm_token: `token-${fan}` }) },
  });
  if (response.status !== 204) throw new Error(`a phone was answered ${response.status}`);
}

/** Who buys in the same moment in which the turn was granted. */
async function wrongRefusals(scene: Scene, match: Match, told: readonly Told[]): Promise<number> {
  const answers = await Promise.all(
    told
      .filter(({ session_token }) => session_token !== undefined)
      .map(async ({ user_id, session_token }) => {
        const response = await fetch(`${scene.anyReplica()?.url}/api/v1/matches/${match.id}/reservations`, {
          method: 'POST',
          headers: { ...keyed(user_id), 'x-purchase-session': session_token ?? '' },
          body: JSON.stringify({ sector_id: match.sectors[0]?.id, quantity: 1 }),
        });
        return response.status;
      }),
  );
  return answers.filter((status) => status === 403).length;
}
