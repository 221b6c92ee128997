import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { readHold, type Fan, type Held, type Match } from '../fan.ts';
import type { Answer, Request } from '../history.ts';
import type { Replica } from '../replica.ts';
import type { Check, Scenario } from '../scenario.ts';

const DEADLINE_MS = 12_000;
/** Duration of the lock: longer than six attempts of a transaction with their pauses, so that some requests are refused. */
const LONG_STORM_MS = 6000;
const RETRY_METRIC = 'transaction_retries_total';

interface Outcome {
  readonly answer: Answer;
  /** How many times the transaction of the request ran. */
  readonly attempts: number;
}

/**
 * Scenario F32: another database session locks rows in the opposite order (deadlocks), changes the rows of a running checkout (SQL error
 * 40001), and finally keeps a row locked (55P03). The service retries transactions where possible. Otherwise it refuses the request with
 * a code before the deadline.
 */
export function contentionStorm({ rounds }: { rounds: number }): Scenario {
  return {
    id: 'F32',
    title: `deadlocks and serialization failures, ${rounds} of each`,
    limitMs: 60_000 + rounds * 15_000,
    async run(scene, check) {
      const replica = await scene.start({ REQUEST_DEADLINE_MS: String(DEADLINE_MS) });
      const match = await scene.openSale(40, 2);
      const session = await scene.session();
      const holdFor = async (fan: Fan): Promise<Held> => readHold(await fan.sendUntilAnswered(fan.holdRequest(match)));
      const outcomes: Outcome[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const fan = scene.fan();
        await holdFor(fan);
        const otherFan = scene.fan();
        const { id, seatIds } = await holdFor(otherFan);
        await otherFan.releaseReservation(id);
        outcomes.push(await countAttempts(replica, () => holdDuringDeadlock(session, fan, match, seatIds)));
      }
      for (let round = 0; round < rounds; round += 1) {
        const fan = scene.fan();
        const held = await holdFor(fan);
        const request = fan.checkoutRequest(held);
        const stormMs = round % 2 === 0 ? 300 : LONG_STORM_MS;
        outcomes.push(await countAttempts(replica, () => checkOutDuringChanges(session, fan, request, { held, stormMs })));
        check((await fan.sendUntilAnswered(request)).status < 300, 'a checkout does not succeed after the concurrent changes');
      }
      const fan = scene.fan();
      const held = await holdFor(fan);
      const locked = await countAttempts(replica, () => checkOutWithLockedRow(session, fan, fan.checkoutRequest(held), held));
      check(
        locked.answer.code === 'LOCK_TIMEOUT',
        `a checkout of a locked reservation was answered ${locked.answer.status} ${locked.answer.code}`,
      );
      checkOutcomes([...outcomes, locked], check);
      return {
        ...Object.fromEntries(
          Object.entries(await replica.metric(RETRY_METRIC, 'sqlstate')).map(([state, n]) => [`retries_${state}`, n]),
        ),
        attempts: histogram(outcomes),
        refused_lock_timeout: outcomes.filter(({ answer }) => answer.code === 'LOCK_TIMEOUT').length,
        slowest_ms: Math.round(Math.max(...outcomes.map(({ answer }) => answer.ms))),
        locked_for_good_answered_after_ms: Math.round(locked.answer.ms),
      };
    },
  };
}

function checkOutcomes(outcomes: readonly Outcome[], check: Check): void {
  for (const { answer, attempts } of outcomes) {
    check(answer.status < 300 || answer.code === 'LOCK_TIMEOUT', `a checkout was answered ${answer.status} ${answer.code}`);
    check(answer.ms < DEADLINE_MS + 1500, `an answer came after ${Math.round(answer.ms)} ms`);
    check(attempts <= 6, `${attempts} attempts`);
  }
  check(
    outcomes.some(({ attempts }) => attempts > 1),
    'no transaction was retried, so the scenario proves nothing',
  );
}

function histogram(outcomes: readonly Outcome[]): string {
  const counts = new Map<number, number>();
  for (const { attempts } of outcomes) counts.set(attempts, (counts.get(attempts) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([attempts, n]) => `${attempts}: ${n}`)
    .join(', ');
}

/** Sends a request and counts the attempts of its transaction: one, plus the retries that the metric of the replica counts meanwhile. */
async function countAttempts(replica: Replica, send: () => Promise<Answer>): Promise<Outcome> {
  const count = async (): Promise<number> => Object.values(await replica.metric(RETRY_METRIC)).reduce((sum, n) => sum + n, 0);
  const before = await count();
  const answer = await send();
  return { answer, attempts: 1 + (await count()) - before };
}

/**
 * Causes a deadlock: a hold locks seats and then the row of its fan, while `session` locks the row of the fan and then the seats. After
 * one second PostgreSQL aborts one of the two transactions.
 */
async function holdDuringDeadlock(session: pg.Client, fan: Fan, match: Match, seatIds: readonly string[]): Promise<Answer> {
  await session.query('begin');
  await session.query('select 1 from fan_seats where user_id = $1 for update', [fan.userId]);
  const pendingAnswer = fan.sendOnce(fan.holdRequest(match, { seatIds }));
  await sleep(200);
  await session.query('select 1 from seats where id = any($1) for update', [seatIds]).catch(() => undefined);
  await session.query('rollback');
  return pendingAnswer;
}

/** Changes the reservation again and again, each time between the snapshot and the row lock of the checkout's transaction. */
async function checkOutDuringChanges(
  session: pg.Client,
  fan: Fan,
  request: Request,
  storm: { held: Held; stormMs: number },
): Promise<Answer> {
  const until = Date.now() + storm.stormMs;
  const change = async (): Promise<void> => {
    await session.query('begin');
    await session.query('update reservations set ended_at = ended_at where id = $1', [storm.held.id]);
  };
  await change();
  let isAnswered = false;
  const pendingAnswer = fan.sendOnce(request).finally(() => (isAnswered = true));
  while (Date.now() < until && !isAnswered) {
    await sleep(25);
    await session.query('commit');
    await change();
  }
  await session.query('commit');
  return pendingAnswer;
}

/** Keeps the reservation locked until the checkout is answered. */
async function checkOutWithLockedRow(session: pg.Client, fan: Fan, request: Request, { id }: Held): Promise<Answer> {
  await session.query('begin');
  await session.query('select 1 from reservations where id = $1 for update', [id]);
  const answer = await fan.sendOnce(request);
  await session.query('rollback');
  return answer;
}
