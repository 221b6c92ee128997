import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startQueueService } from '../../../bench/instruments/service.ts';
import type { Match } from '../fan.ts';
import type { Check, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

interface Sizes {
  readonly fans: number;
  readonly cuts: number;
  readonly downMs: number;
}

interface LineEvent {
  readonly event: string;
  readonly user_id: string;
  readonly session_token?: string;
}

const CATCH_UP_TIMEOUT_MS = 40_000;
const PUSH_TEMPLATES: Readonly<Record<string, string>> = {
  'queue.turn_granted': 'queue_your_turn',
  'queue.front_reached': 'queue_front',
};

/**
 * Scenario F06: while turns are granted, the replicas are cut off from Redis several times, and then no replica lives. No turn and no push
 * is lost or doubled. The negative control is a listener that only subscribes to the pub/sub channel over the same network: it misses
 * turns.
 */
export function turnsMissed({ fans: count, cuts, downMs }: Sizes): Scenario {
  return {
    id: 'F06',
    title: `turns granted during ${cuts} network cuts, then without any replica for ${downMs / 1000} s`,
    limitMs: 90_000 + downMs + count * 500,
    async run(scene, check) {
      const queue = await startQueueService({
        ...{ REDIS_URL: scene.redisUrl, RATE_LIMIT_IP_PER_MINUTE: '0', LOG_LEVEL: 'fatal', QUEUE_PRESENCE_SECONDS: '4' },
      });
      scene.onClose(() => queue.stop());
      const network = await scene.proxyTo(scene.redisUrl);
      const settings = { QUEUE_INTERNAL_URL: queue.url };
      const start = () => scene.start(settings, { redisUrl: network.url });
      const replicas = [await start(), await start()];
      const control = new PubSubListener(network.url);
      scene.onClose(async () => control.disconnect());
      await control.subscribe();
      const match = await scene.openSale(50, 1, { queue_required: true, processing_rate: 600, max_open_windows: count });
      const fans = Array.from({ length: count }, () => randomUUID());
      for (const fan of fans) await registerPhone(scene, fan);
      await waitUntilActive(queue.url, match);
      const redis = new Redis(scene.redisUrl);
      scene.onClose(async () => redis.disconnect());
      const events = async (): Promise<LineEvent[]> => {
        const entries = await redis.xrange(`queue_events_log:{${match.id}}`, '-', '+');
        return entries.map(([, fields]) => JSON.parse(fields[1]!) as LineEvent);
      };
      for (const fan of fans) await callQueue(queue.url, match, fan, 'POST', 'join');
      // Half of the fans are present, so they get turns. The others are absent and get a push when they reach the front.
      const presentFans = fans.filter((_, at) => at % 2 === 0);
      let isStopped = false;
      const polling = (async () => {
        for (; !isStopped; await sleep(1000))
          await Promise.all(presentFans.map((fan) => callQueue(queue.url, match, fan, 'GET', 'position')));
      })();
      let refusedHolds = 0;
      for (let cut = 0; cut < cuts; cut += 1) {
        network.refuse();
        await sleep(300);
        network.restore();
        refusedHolds += await countRefusedHolds(scene, match, (await events()).slice(-5));
        await sleep(400);
      }
      check(refusedHolds === 0, `${refusedHolds} holds were refused in turns that the replicas had missed`);
      for (const replica of replicas) await replica.kill();
      control.disconnect();
      await sleep(downMs);
      const startedAt = Date.now();
      await control.subscribe();
      await Promise.all([start(), start()]);
      const caughtUpAt = await waitUntilCaughtUp({ scene, redis, match, events, check }, presentFans.length);
      isStopped = true;
      await polling;
      const granted = (await events()).filter(({ event }) => event === 'queue.turn_granted');
      const missed = granted.filter(({ session_token = '' }) => !control.receivedTokens.has(session_token)).length;
      const received = granted.length - missed;
      check(
        missed > 0 && received > 0,
        `the negative control received ${received} of ${granted.length} turns: this proves nothing`,
      );
      return {
        fans: count,
        awake: presentFans.length,
        over_after_ms: caughtUpAt - startedAt,
        the_control_heard_of: received,
        and_missed: missed,
      };
    },
  };
}

/** The negative control: it receives only the turns that are published while it is subscribed. */
class PubSubListener {
  readonly receivedTokens = new Set<string>();
  private readonly url: string;
  private connection: Redis | undefined;

  constructor(url: string) {
    this.url = url;
  }

  async subscribe(): Promise<void> {
    this.connection = new Redis(this.url, { maxRetriesPerRequest: null });
    this.connection.on('error', () => undefined);
    this.connection.on('message', (_channel: string, text: string) => {
      const { session_token } = JSON.parse(text) as LineEvent;
      if (session_token) this.receivedTokens.add(session_token);
    });
    await this.connection.subscribe('queue_events');
  }

  disconnect(): void {
    this.connection?.disconnect();
  }
}

interface CatchUpInputs {
  readonly scene: Scene;
  readonly redis: Redis;
  readonly match: Match;
  readonly events: () => Promise<LineEvent[]>;
  readonly check: Check;
}

/** Waits until every turn is stored in PostgreSQL and every event has exactly one push. Returns the time when this was reached. */
async function waitUntilCaughtUp({ scene, redis, match, events, check }: CatchUpInputs, turns: number): Promise<number> {
  let [windows, granted, missing, twice]: [number, LineEvent[], string[], string[]] = [0, [], [], []];
  for (const giveUpAt = Date.now() + CATCH_UP_TIMEOUT_MS; Date.now() < giveUpAt; await sleep(100)) {
    const allEvents = await events();
    granted = allEvents.filter(({ event }) => event === 'queue.turn_granted');
    const [row] = await scene.rows<{ n: number }>(
      'select count(*)::int as n from purchase_windows where match_id = $1 and session_token = any($2)',
      [match.id, granted.map(({ session_token }) => session_token)],
    );
    windows = row?.n ?? 0;
    const expected = allEvents
      .filter(({ event }) => PUSH_TEMPLATES[event])
      .map(({ event, user_id }) => `${PUSH_TEMPLATES[event]} ${user_id}`);
    const pushed = await pushesIn(redis);
    missing = expected.filter((push) => !pushed.includes(push));
    twice = pushed.filter((push, at) => pushed.indexOf(push) !== at);
    if (granted.length >= turns && windows === granted.length && missing.length === 0) break;
  }
  check(granted.length >= turns, `${granted.length} of ${turns} present fans have a turn`);
  check(windows === granted.length, `${windows} of ${granted.length} turns are stored`);
  check(missing.length === 0, `${missing.length} pushes are missing, as ${missing[0]}`);
  check(twice.length === 0, `${twice.length} pushes are there twice, as ${twice[0]}`);
  return Date.now();
}

/** The ids of all pushes that were ever queued. No worker runs, so no push has been removed from its queue. */
async function pushesIn(redis: Redis): Promise<string[]> {
  const names = await redis.keys('{notification}:push-priority:*-*-*');
  const jobs = await Promise.all(names.map((name) => redis.hget(name, 'data').catch(() => null)));
  return jobs.flatMap((text) => {
    if (!text) return [];
    const { template, user_id } = JSON.parse(text) as { template: string; user_id: string };
    return [`${template} ${user_id}`];
  });
}

function callQueue(url: string, match: Match, fan: string, method: string, call: string): Promise<Response> {
  return fetch(`${url}/api/v1/queue/${match.id}/${call}`, { method, headers: { 'x-mock-user-id': fan } });
}

async function waitUntilActive(url: string, match: Match): Promise<void> {
  for (const giveUpAt = Date.now() + 15_000; Date.now() < giveUpAt; await sleep(50)) {
    const response = await fetch(`${url}/api/v1/queue/${match.id}/status`);
    if (response.ok && ((await response.json()) as { status: string }).status === 'active') return;
  }
  throw new Error('the waiting room of the match did not become active');
}

const headersWithKey = (fan: string): Record<string, string> => ({
  ...{ 'content-type': 'application/json', 'x-mock-user-id': fan },
  'idempotency-key': randomUUID().replaceAll('-', ''),
});

async function registerPhone(scene: Scene, fan: string): Promise<void> {
  const response = await fetch(`${scene.nextReplica()?.url}/api/v1/me/devices/phone`, {
    ...{ method: 'PUT', headers: headersWithKey(fan), body: JSON.stringify({ fcm_token: `token-${fan}` }) },
  });
  if (response.status !== 204) throw new Error(`registering a phone was answered with ${response.status}`);
}

/** Sends hold requests with all granted turns at the same time. Returns the number of 403 answers. */
async function countRefusedHolds(scene: Scene, match: Match, events: readonly LineEvent[]): Promise<number> {
  const answers = await Promise.all(
    events
      .filter(({ session_token }) => session_token !== undefined)
      .map(async ({ user_id, session_token }) => {
        const response = await fetch(`${scene.nextReplica()?.url}/api/v1/matches/${match.id}/reservations`, {
          method: 'POST',
          headers: { ...headersWithKey(user_id), 'x-purchase-session': session_token ?? '' },
          body: JSON.stringify({ sector_id: match.sectors[0]?.id, quantity: 1 }),
        });
        return response.status;
      }),
  );
  return answers.filter((status) => status === 403).length;
}
