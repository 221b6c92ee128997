import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Fan, readHold, newKey } from '../fan.ts';
import { History, type Answer, type Request } from '../history.ts';
import type { Check, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

/** Prefix of the idempotency keys of the negative control. A random key has this prefix with probability 2^-20. */
const CONTROL_KEY_PREFIX = 'c0ffe';
const CONCURRENT_COPIES = 10;

/** SQL that stores the idempotency rows of the negative control under random keys, so that a copy of a request does not find its row. */
const DISABLE_IDEMPOTENCY_ROW = `
  create or replace function replace_control_key() returns trigger language plpgsql as $$ begin
    if new.key like '${CONTROL_KEY_PREFIX}%' then new.key := md5(random()::text); end if;
    return new;
  end $$;
  create or replace trigger replace_control_key before insert on idempotency_keys for each row execute function replace_control_key()`;

interface Sizes {
  readonly lockedMs: number;
  /** Whether to delete the lock of the idempotency key from Redis. Needed if `lockedMs` is below 30 s, the expiry of the lock. */
  readonly deletesRedisLock: boolean;
}

interface StuckRequest extends Sizes {
  readonly request: Request;
  /** The statement with which another database session blocks the request. */
  readonly lock: readonly [sql: string, ...parameters: string[]];
  readonly table: 'reservations' | 'orders';
}

/**
 * Scenario F03: a request waits for a row that another database session has locked, for longer than the lock of its idempotency key lasts
 * in Redis. Meanwhile copies with the same key arrive at both replicas. The request must be executed once. The requests are a checkout
 * whose reservation is locked, and a hold whose idempotency row the other session is inserting. The negative control is a hold without
 * its idempotency row; it is executed twice.
 */
export function sameKeyStuck(sizes: Sizes): Scenario {
  return {
    id: 'F03',
    title: `copies of a request that is blocked for ${sizes.lockedMs / 1000} s`,
    limitMs: sizes.lockedMs + 60_000,
    async run(scene, check) {
      await Promise.all([scene.start(), scene.start()]);
      const match = await scene.openSale(10, 2);
      const [holdingFan, payingFan] = [scene.fan(), scene.fan()];
      const holdRequest = holdingFan.holdRequest(match);
      const held = readHold(await payingFan.sendUntilAnswered(payingFan.holdRequest(match)));
      const insertKey = `insert into idempotency_keys (key, user_id, fingerprint) values ($1, $2, 'side')`;
      const [hold, checkout, executionsOfControl] = await Promise.all([
        sendCopiesWhileBlocked(scene, holdingFan, {
          ...sizes,
          request: holdRequest,
          table: 'reservations',
          lock: [insertKey, holdRequest.key, holdingFan.userId],
        }),
        sendCopiesWhileBlocked(scene, payingFan, {
          ...{ ...sizes, request: payingFan.checkoutRequest(held), table: 'orders' },
          lock: ['select 1 from reservations where id = $1 for update', held.id],
        }),
        executeWithoutIdempotencyRow(scene, new Fan(new History(), () => scene.nextReplica()), match),
      ]);
      for (const result of [hold, checkout]) checkResult(result, check);
      check(
        executionsOfControl > 1,
        `the negative control was executed ${executionsOfControl} times, so the scenario proves nothing`,
      );
      const answers = [...hold.answers, ...checkout.answers];
      return {
        copies: answers.length - 2,
        executions: `hold ${hold.executions}, checkout ${checkout.executions}`,
        executions_of_the_control: executionsOfControl,
        answered_409_in_use: answers.filter(({ code }) => code === 'IDEMPOTENCY_KEY_IN_USE').length,
        replayed: answers.filter(({ replayed }) => replayed).length,
        stuck_for_s: `hold ${Math.round(hold.first.ms / 1000)}, checkout ${Math.round(checkout.first.ms / 1000)}`,
      };
    },
  };
}

interface Result {
  readonly first: Answer;
  readonly answers: readonly Answer[];
  readonly executions: number;
}

async function sendCopiesWhileBlocked(
  scene: Scene,
  fan: Fan,
  { request, lock, table, lockedMs, deletesRedisLock }: StuckRequest,
): Promise<Result> {
  const session = await scene.session();
  await lockRow(session, lock);
  const first = fan.sendOnce(request);
  const copies: Promise<unknown>[] = [];
  const sendCopies = (send = () => fan.sendOnce(request) as Promise<unknown>): void => {
    for (let copy = 0; copy < CONCURRENT_COPIES; copy += 1) copies.push(send());
  };
  const secondCopiesAfterMs = Math.min(lockedMs - 2000, 33_000);
  await sleep(secondCopiesAfterMs / 2);
  sendCopies();
  await sleep(secondCopiesAfterMs / 2);
  // Simulate that Redis has lost all data of the idempotency key (lock and answer): now only the idempotency row in PostgreSQL can
  // recognise the copies.
  if (deletesRedisLock) await deleteFromRedis(scene, request.key);
  sendCopies(deletesRedisLock ? () => fan.sendUntilAnswered(request) : undefined);
  await sleep(lockedMs - secondCopiesAfterMs);
  await session.query('rollback');
  await Promise.all(copies);
  await fan.sendUntilAnswered(request);
  return { first: await first, answers: request.answers, executions: await countExecutions(scene, table, fan) };
}

async function lockRow(session: pg.Client, [sql, ...parameters]: StuckRequest['lock']): Promise<void> {
  await session.query('begin');
  await session.query(sql, parameters);
}

/** The negative control: sends a hold request twice without its idempotency row. The copy is executed even though no row is locked. */
async function executeWithoutIdempotencyRow(scene: Scene, fan: Fan, match: Parameters<Fan['holdRequest']>[0]): Promise<number> {
  await scene.rows(DISABLE_IDEMPOTENCY_ROW);
  const request = fan.holdRequest(match, { key: CONTROL_KEY_PREFIX + newKey().slice(CONTROL_KEY_PREFIX.length) });
  for (let copy = 0; copy < 2; copy += 1) {
    await fan.sendUntilAnswered(request);
    await deleteFromRedis(scene, request.key);
  }
  return countExecutions(scene, 'reservations', fan);
}

async function countExecutions(scene: Scene, table: StuckRequest['table'], { userId }: Fan): Promise<number> {
  const [row] = await scene.rows<{ n: number }>(`select count(*)::int as n from ${table} where user_id = $1`, [userId]);
  return row?.n ?? 0;
}

async function deleteFromRedis(scene: Scene, key: string): Promise<void> {
  await scene.redisCall('DEL', `idempotency:lock:${key}`, `idempotency:${key}`);
}

function checkResult({ first, answers, executions: times }: Result, check: Check): void {
  check(times === 1, `${times} executions`);
  check(first.status === 201, `the blocked request was answered ${first.status} ${first.code}`);
  for (const { status, code, text } of answers) {
    const isExpected = (status === 201 && text === first.text) || code === 'IDEMPOTENCY_KEY_IN_USE';
    check(isExpected, `a copy was answered ${status} ${text.slice(0, 200)}`);
  }
  check(answers.at(-1)?.status === 201, 'the last copy was not answered');
}
