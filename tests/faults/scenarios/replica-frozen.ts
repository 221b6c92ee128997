import { setTimeout as sleep } from 'node:timers/promises';
import { HOLD_BATCH } from '../../../apps/monolith/src/purchase/hold/outbound/hold-batch.sql.ts';
import { audit } from '../audit.ts';
import { Scene } from '../scene.ts';
import type { Match } from '../fan.ts';
import type { Answer } from '../history.ts';
import type { Replica } from '../replica.ts';
import type { Scenario } from '../scenario.ts';

/** The shortest there is. */
const HOLD_SECONDS = 5;
const ROWS = 2;
/**
 * The condition by which HOLD_BATCH locks free seats only, as PostgreSQL receives it, and a condition of the same length that
 * locks the seats whether they are free or not.
 */
const LOCKS_FREE_SEATS = part(/s\.ctid = any\(\$\d+::tid\[\]\) and \(.*now\(\)\)\)/);
const CTIDS = part(/\$\d+::tid\[\]/);
const SEAT_IDS = part(/\$\d+::uuid\[\](?=\) as p\(index, seat_id\))/);
const LOCKS_ALL_SEATS = `s.id = any(${SEAT_IDS}) and ${CTIDS} is not null`.padEnd(LOCKS_FREE_SEATS.length);
const GUARDS = [{ said: LOCKS_FREE_SEATS, heard: LOCKS_ALL_SEATS }];

function part(pattern: RegExp): string {
  const [found] = pattern.exec(HOLD_BATCH.text) ?? [];
  if (found === undefined) throw new Error(`HOLD_BATCH has no ${pattern.source}`);
  return found;
}

interface Sizes {
  readonly rounds: number;
  /** Fans who wait at the replica that is frozen. */
  readonly asleep: number;
}

interface Dance {
  readonly scene: Scene;
  readonly sizes: Sizes;
  readonly guarded: boolean;
}

interface Woken {
  readonly answers: readonly Answer[];
  readonly soldMeanwhile: number;
  readonly soldAgain: number;
  readonly soldByTheWoken: number;
  readonly rewritten: number;
}

/**
 * A replica is frozen (SIGSTOP) with a batch on its way: the network keeps the statement back. The other sells everything,
 * those holds expire and half of their seats are sold a second time; some are bought. Then the statement arrives, the replica
 * wakes with its old picture, and goes on giving seats to those who wait. In the control everything has been bought, and the
 * statement that arrives does not look whether a seat is free: it sells what is sold.
 */
export function replicaFrozen(sizes: Sizes): Scenario {
  return {
    id: 'K02',
    title: `a replica frozen with a batch on its way wakes with a stale map, ${sizes.rounds} times`,
    limitMs: 60_000 + sizes.rounds * 60_000,
    async play(scene, claim) {
      const { answers, soldMeanwhile, soldAgain, soldByTheWoken } = await dance({ scene, sizes, guarded: true });
      claim(soldByTheWoken > 0, 'the replica that slept sells nothing any more');
      const control = await unguarded(sizes);
      claim(control.rewritten > 0, 'the control was guarded like the other: its statement says something else now');
      const seen = ['given twice', 'verify: '].filter((how) => control.faults.some((fault) => fault.startsWith(how)));
      claim(seen.length === 2, `without its guard only these were seen: ${seen.join(', ')}; this proves nothing`);
      return {
        rounds: sizes.rounds,
        woken_with: answers.length,
        sold_meanwhile: soldMeanwhile,
        sold_again_after_expiry: soldAgain,
        woken_and_given_other_seats: answers.filter(({ status }) => status === 201).length,
        seats_twice_in_the_control: control.faults.filter((fault) => fault.startsWith('given twice')).length,
      };
    },
  };
}

async function unguarded(sizes: Sizes): Promise<{ faults: readonly string[]; rewritten: number }> {
  const scene = await Scene.open();
  try {
    const { rewritten } = await dance({ scene, sizes: { ...sizes, rounds: 1 }, guarded: false });
    return { faults: (await audit(scene)).faults, rewritten };
  } finally {
    await scene.close();
  }
}

async function dance({ scene, sizes, guarded }: Dance): Promise<Woken> {
  const proxy = await scene.proxyTo(scene.databaseUrl);
  if (!guarded) for (const { said, heard } of GUARDS) proxy.rewrite(said, heard);
  const settings = { RESERVATION_HOLD_SECONDS: guarded ? String(HOLD_SECONDS) : '600' };
  const frozen = await scene.start(settings, { databaseUrl: proxy.url });
  const awake = await scene.start(settings);
  const answers: Answer[] = [];
  let [soldMeanwhile, soldAgain, soldByTheWoken] = [0, 0, 0];
  for (let round = 0; round < sizes.rounds; round += 1) {
    const match = await scene.onSale(ROWS);
    // So that it has a map of the sector.
    await scene.fan(() => frozen).hold(match);
    const requests = Array.from({ length: sizes.asleep }, () => scene.fan(() => frozen).holding(match));
    const isHold = (bytes: Buffer) => requests.some(({ key }) => bytes.includes(Buffer.from(key, 'hex')));
    const isOnItsWay = proxy.setTrap({ whenSent: isHold, passOn: false, then: 'wait' });
    const waiting = requests.map((request) => scene.fan(() => frozen).ask(request));
    await isOnItsWay;
    frozen.freeze();
    const sold = await sell(scene, awake, match, { buysEvery: guarded ? 4 : 1 });
    soldMeanwhile += sold;
    if (guarded) {
      await sleep(HOLD_SECONDS * 1000 + 200);
      soldAgain += await sell(scene, awake, match, { buysEvery: 4, most: Math.ceil(sold / 2) });
    }
    proxy.release();
    frozen.thaw();
    answers.push(...(await Promise.all(waiting)));
    if (!guarded) continue;
    await sleep(HOLD_SECONDS * 1000 + 200);
    soldByTheWoken += await sell(scene, frozen, match, { buysEvery: 4 });
  }
  return { answers, soldMeanwhile, soldAgain, soldByTheWoken, rewritten: proxy.rewritten };
}

interface Sale {
  readonly buysEvery: number;
  readonly most?: number;
}

/** To one after the other, until nothing is left or so many have seats. */
async function sell(scene: Scene, replica: Replica, match: Match, { buysEvery, most = Infinity }: Sale): Promise<number> {
  for (let sold = 0; ; sold += 1) {
    const fan = scene.fan(() => replica);
    const held = sold < most ? await fan.hold(match) : undefined;
    if (!held) return sold;
    const ordered = sold % buysEvery === 0 ? await fan.checkOut(held) : undefined;
    if (ordered) await fan.pay(ordered);
  }
}
