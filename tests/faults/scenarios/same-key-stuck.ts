import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Fan, heldIn, newKey } from '../fan.ts';
import { History, type Answer, type Request } from '../history.ts';
import type { Claim, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

/** Of the control's keys: 2^-20 of all others begin so too. */
const WITHOUT_KEY = 'c0ffe';
const COPIES_AT_ONCE = 10;

/** For these keys nothing is written down that would be recognised: the fence is off, and nothing else is. */
const FENCE_OFF = `
  create or replace function forget_the_key() returns trigger language plpgsql as $$ begin
    if new.key like '${WITHOUT_KEY}%' then new.key := md5(random()::text); end if;
    return new;
  end $$;
  create or replace trigger fence_off before insert on idempotency_keys for each row execute function forget_the_key()`;

interface Sizes {
  readonly lockedMs: number;
  /** Redis' own lock lasts 30 s: who is stuck for less is robbed of it. */
  readonly forgets: boolean;
}

interface Stuck extends Sizes {
  readonly request: Request;
  /** What the side session does that keeps it waiting. */
  readonly lock: readonly [sql: string, ...parameters: string[]];
  readonly table: 'reservations' | 'orders';
}

/**
 * F03: a request is stuck on a row that a side session has locked, for longer than the lock of its key lives by itself; the
 * same key comes again and again, over both replicas. One execution: of a checkout whose reservation is locked, and of a hold
 * whose key somebody else is writing down. The control is a hold with its fence off; it is done again.
 */
export function sameKeyStuck(sizes: Sizes): Scenario {
  return {
    id: 'F03',
    title: `the same key again while the first is stuck for ${sizes.lockedMs / 1000} s`,
    limitMs: sizes.lockedMs + 60_000,
    async play(scene, claim) {
      await Promise.all([scene.start(), scene.start()]);
      const match = await scene.onSale(10, 2);
      const [holder, payer] = [scene.fan(), scene.fan()];
      const holding = holder.holding(match);
      const held = heldIn(await payer.insist(payer.holding(match)));
      const writeKey = `insert into idempotency_keys (key, user_id, fingerprint) values ($1, $2, 'side')`;
      const [hold, checkout, executionsOfControl] = await Promise.all([
        stuck(scene, holder, { ...sizes, request: holding, table: 'reservations', lock: [writeKey, holding.key, holder.userId] }),
        stuck(scene, payer, {
          ...{ ...sizes, request: payer.checkingOut(held), table: 'orders' },
          lock: ['select 1 from reservations where id = $1 for update', held.id],
        }),
        unfenced(scene, new Fan(new History(), () => scene.anyReplica()), match),
      ]);
      for (const one of [hold, checkout]) judge(one, claim);
      claim(executionsOfControl > 1, `the control did it ${executionsOfControl} times: this proves nothing`);
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

interface Told {
  readonly first: Answer;
  readonly answers: readonly Answer[];
  readonly executions: number;
}

async function stuck(scene: Scene, fan: Fan, { request, lock, table, lockedMs, forgets }: Stuck): Promise<Told> {
  const session = await scene.session();
  await begin(session, lock);
  const first = fan.ask(request);
  const copies: Promise<unknown>[] = [];
  const again = (send = () => fan.ask(request) as Promise<unknown>): void => {
    for (let copy = 0; copy < COPIES_AT_ONCE; copy += 1) copies.push(send());
  };
  const late = Math.min(lockedMs - 2000, 33_000);
  await sleep(late / 2);
  again();
  await sleep(late / 2);
  // As if Redis had lost the lock and the key: only the row is left to tell.
  if (forgets) await forget(scene, request.key);
  again(forgets ? () => fan.insist(request) : undefined);
  await sleep(lockedMs - late);
  await session.query('rollback');
  await Promise.all(copies);
  await fan.insist(request);
  return { first: await first, answers: request.answers, executions: await executions(scene, table, fan) };
}

async function begin(session: pg.Client, [sql, ...parameters]: Stuck['lock']): Promise<void> {
  await session.query('begin');
  await session.query(sql, parameters);
}

/** Nothing is locked: it need not even be stuck. */
async function unfenced(scene: Scene, fan: Fan, match: Parameters<Fan['holding']>[0]): Promise<number> {
  await scene.rows(FENCE_OFF);
  const request = fan.holding(match, { key: WITHOUT_KEY + newKey().slice(WITHOUT_KEY.length) });
  for (let copy = 0; copy < 2; copy += 1) {
    await fan.insist(request);
    await forget(scene, request.key);
  }
  return executions(scene, 'reservations', fan);
}

async function executions(scene: Scene, table: Stuck['table'], { userId }: Fan): Promise<number> {
  const [row] = await scene.rows<{ n: number }>(`select count(*)::int as n from ${table} where user_id = $1`, [userId]);
  return row?.n ?? 0;
}

async function forget(scene: Scene, key: string): Promise<void> {
  await scene.redisCall('DEL', `idempotency:lock:${key}`, `idempotency:${key}`);
}

function judge({ first, answers, executions: times }: Told, claim: Claim): void {
  claim(times === 1, `${times} executions`);
  claim(first.status === 201, `the one that was stuck was answered ${first.status} ${first.code}`);
  for (const { status, code, text } of answers) {
    const isKnown = (status === 201 && text === first.text) || code === 'IDEMPOTENCY_KEY_IN_USE';
    claim(isKnown, `a copy was answered ${status} ${text.slice(0, 200)}`);
  }
  claim(answers.at(-1)?.status === 201, 'the last copy was not answered');
}
