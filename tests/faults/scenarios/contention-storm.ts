import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { heldIn, type Fan, type Held, type Match } from '../fan.ts';
import type { Answer, Request } from '../history.ts';
import type { Replica } from '../replica.ts';
import type { Claim, Scenario } from '../scenario.ts';

const DEADLINE_MS = 12_000;
/** Longer than six attempts with all their pauses, so that some are refused for good. */
const STORM_MS = 6000;
const COUNTER = 'transaction_retries_total';

interface Told {
  readonly answer: Answer;
  /** The transaction of the hold or the checkout, how often it ran. */
  readonly attempts: number;
}

/**
 * F32: a side session locks in the opposite order (deadlocks), changes rows under the feet of a checkout (40001), and at last
 * holds one for good (55P03). What can be repeated is; what cannot is refused with a code before the deadline.
 */
export function contentionStorm({ rounds }: { rounds: number }): Scenario {
  return {
    id: 'F32',
    title: `deadlocks and serialization failures, ${rounds} of each`,
    limitMs: 60_000 + rounds * 15_000,
    async play(scene, claim) {
      const replica = await scene.start({ REQUEST_DEADLINE_MS: String(DEADLINE_MS) });
      const match = await scene.onSale(40, 2);
      const session = await scene.session();
      const heldBy = async (fan: Fan): Promise<Held> => heldIn(await fan.insist(fan.holding(match)));
      const told: Told[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const fan = scene.fan();
        await heldBy(fan);
        const other = scene.fan();
        const { id, seatIds } = await heldBy(other);
        await other.giveBack(id);
        told.push(await attempted(replica, () => oppositeOrder(session, fan, match, seatIds)));
      }
      for (let round = 0; round < rounds; round += 1) {
        const fan = scene.fan();
        const held = await heldBy(fan);
        const request = fan.checkingOut(held);
        const stormMs = round % 2 === 0 ? 300 : STORM_MS;
        told.push(await attempted(replica, () => changedMeanwhile(session, fan, request, { held, stormMs })));
        claim((await fan.insist(request)).status < 300, 'a checkout does not come through after the storm');
      }
      const fan = scene.fan();
      const held = await heldBy(fan);
      const locked = await attempted(replica, () => lockedForGood(session, fan, fan.checkingOut(held), held));
      claim(
        locked.answer.code === 'LOCK_TIMEOUT',
        `what is locked for good is answered ${locked.answer.status} ${locked.answer.code}`,
      );
      judge([...told, locked], claim);
      return {
        ...Object.fromEntries(
          Object.entries(await replica.metric(COUNTER, 'sqlstate')).map(([state, n]) => [`retries_${state}`, n]),
        ),
        attempts: histogram(told),
        refused_lock_timeout: told.filter(({ answer }) => answer.code === 'LOCK_TIMEOUT').length,
        slowest_ms: Math.round(Math.max(...told.map(({ answer }) => answer.ms))),
        locked_for_good_answered_after_ms: Math.round(locked.answer.ms),
      };
    },
  };
}

function judge(told: readonly Told[], claim: Claim): void {
  for (const { answer, attempts } of told) {
    claim(answer.status < 300 || answer.code === 'LOCK_TIMEOUT', `a checkout was answered ${answer.status} ${answer.code}`);
    claim(answer.ms < DEADLINE_MS + 1500, `an answer came after ${Math.round(answer.ms)} ms`);
    claim(attempts <= 6, `${attempts} attempts`);
  }
  claim(
    told.some(({ attempts }) => attempts > 1),
    'nothing had to be repeated: this proves nothing',
  );
}

function histogram(told: readonly Told[]): string {
  const counts = new Map<number, number>();
  for (const { attempts } of told) counts.set(attempts, (counts.get(attempts) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([attempts, n]) => `${attempts}: ${n}`)
    .join(', ');
}

/** How often it ran: once, and once more for each retry the process counts meanwhile. */
async function attempted(replica: Replica, act: () => Promise<Answer>): Promise<Told> {
  const count = async (): Promise<number> => Object.values(await replica.metric(COUNTER)).reduce((sum, n) => sum + n, 0);
  const before = await count();
  const answer = await act();
  return { answer, attempts: 1 + (await count()) - before };
}

/** A hold locks its seats, then its fan's row; the side has the fan's row and then wants a seat. After a second one of them gives way. */
async function oppositeOrder(session: pg.Client, fan: Fan, match: Match, seatIds: readonly string[]): Promise<Answer> {
  await session.query('begin');
  await session.query('select 1 from fan_seats where user_id = $1 for update', [fan.userId]);
  const asked = fan.ask(fan.holding(match, { seatIds }));
  await sleep(200);
  await session.query('select 1 from seats where id = any($1) for update', [seatIds]).catch(() => undefined);
  await session.query('rollback');
  return asked;
}

/** Row after row changes between the moment a checkout has its snapshot and the moment it has its lock. */
async function changedMeanwhile(
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
  const asked = fan.ask(request).finally(() => (isAnswered = true));
  while (Date.now() < until && !isAnswered) {
    await sleep(25);
    await session.query('commit');
    await change();
  }
  await session.query('commit');
  return asked;
}

async function lockedForGood(session: pg.Client, fan: Fan, request: Request, { id }: Held): Promise<Answer> {
  await session.query('begin');
  await session.query('select 1 from reservations where id = $1 for update', [id]);
  const answer = await fan.ask(request);
  await session.query('rollback');
  return answer;
}
