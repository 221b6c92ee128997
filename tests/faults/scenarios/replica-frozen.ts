import { setTimeout as sleep } from 'node:timers/promises';
import { HOLD_BATCH } from '../../../apps/monolith/src/purchase/hold/outbound/hold-batch.sql.ts';
import { audit } from '../audit.ts';
import { Scene } from '../scene.ts';
import type { Match } from '../fan.ts';
import type { Answer } from '../history.ts';
import type { Replica } from '../replica.ts';
import type { Scenario } from '../scenario.ts';

/** Duration of a hold in this scenario: the shortest that the settings allow. */
const HOLD_SECONDS = 5;
const ROWS = 2;
/**
 * The condition in the SQL text of HOLD_BATCH that makes it lock only free seats. The negative control replaces it by REPLACEMENT, which
 * has the same length and locks the seats whether they are free or not.
 */
const FREE_SEAT_CONDITION = part(/s\.ctid = any\(\$\d+::tid\[\]\) and \(.*quota_id is null\)\)/);
const CTIDS = part(/\$\d+::tid\[\]/);
const SEAT_IDS = part(/\$\d+::uuid\[\](?=\) as p\(index, seat_id\))/);
const REPLACEMENT = `s.id = any(${SEAT_IDS}) and ${CTIDS} is not null`.padEnd(FREE_SEAT_CONDITION.length);

function part(pattern: RegExp): string {
  const [found] = pattern.exec(HOLD_BATCH.text) ?? [];
  if (found === undefined) throw new Error(`HOLD_BATCH has no ${pattern.source}`);
  return found;
}

interface Sizes {
  readonly rounds: number;
  /** Number of fans whose requests are pending on the frozen replica. */
  readonly waitingFans: number;
}

interface Setup {
  readonly scene: Scene;
  readonly sizes: Sizes;
  readonly guarded: boolean;
}

interface Result {
  readonly answers: readonly Answer[];
  readonly soldMeanwhile: number;
  readonly soldAgain: number;
  /** Seats that the frozen replica sold after it continued. */
  readonly soldAfterThaw: number;
  readonly rewritten: number;
}

/**
 * Scenario K02: a replica is frozen (SIGSTOP) while the proxy holds back the statement of its hold batch. Another replica holds all seats;
 * these holds expire, half of the seats are held again, and some are bought. Then the statement is delivered, and the frozen replica
 * continues with its outdated sector snapshot. In the negative control all seats have been bought, and the delivered statement does not
 * check whether a seat is free: it sells seats twice.
 */
export function replicaFrozen(sizes: Sizes): Scenario {
  return {
    id: 'K02',
    title: `a replica frozen with a batch on its way continues with an outdated snapshot, ${sizes.rounds} times`,
    limitMs: 60_000 + sizes.rounds * 60_000,
    async run(scene, check) {
      const { answers, soldMeanwhile, soldAgain, soldAfterThaw } = await sellWhileFrozen({ scene, sizes, guarded: true });
      check(soldAfterThaw > 0, 'the replica sells nothing after the freeze');
      const control = await runUnguarded(sizes);
      check(control.rewritten > 0, 'the negative control still had its guard: the condition was not found in the hold statement');
      const reported = ['given twice', 'verify: '].filter((kind) => control.faults.some((fault) => fault.startsWith(kind)));
      check(reported.length === 2, `the negative control reported only: ${reported.join(', ')}; the scenario proves nothing`);
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

async function runUnguarded(sizes: Sizes): Promise<{ faults: readonly string[]; rewritten: number }> {
  const scene = await Scene.open();
  try {
    const { rewritten } = await sellWhileFrozen({ scene, sizes: { ...sizes, rounds: 1 }, guarded: false });
    return { faults: (await audit(scene)).faults, rewritten };
  } finally {
    await scene.close();
  }
}

async function sellWhileFrozen({ scene, sizes, guarded }: Setup): Promise<Result> {
  const proxy = await scene.proxyTo(scene.databaseUrl);
  if (!guarded) proxy.rewrite(FREE_SEAT_CONDITION, REPLACEMENT);
  const settings = { RESERVATION_HOLD_SECONDS: guarded ? String(HOLD_SECONDS) : '600' };
  const frozen = await scene.start(settings, { databaseUrl: proxy.url });
  const awake = await scene.start(settings);
  const answers: Answer[] = [];
  let [soldMeanwhile, soldAgain, soldAfterThaw] = [0, 0, 0];
  for (let round = 0; round < sizes.rounds; round += 1) {
    const match = await scene.openSale(ROWS);
    // The first hold lets the replica read its snapshot of the sector.
    await scene.fan(() => frozen).hold(match);
    const requests = Array.from({ length: sizes.waitingFans }, () => scene.fan(() => frozen).holdRequest(match));
    const isHold = (bytes: Buffer) => requests.some(({ key }) => bytes.includes(Buffer.from(key, 'hex')));
    const batchSent = proxy.setTrap({ whenSent: isHold, passOn: false, then: 'wait' });
    const waiting = requests.map((request) => scene.fan(() => frozen).sendOnce(request));
    await batchSent;
    frozen.freeze();
    const sold = await sell(scene, awake, match, { buysEvery: guarded ? 4 : 1 });
    soldMeanwhile += sold;
    if (guarded) {
      await sleep(HOLD_SECONDS * 1000 + 200);
      soldAgain += await sell(scene, awake, match, { buysEvery: 4, maxFans: Math.ceil(sold / 2) });
    }
    proxy.release();
    frozen.thaw();
    answers.push(...(await Promise.all(waiting)));
    if (!guarded) continue;
    await sleep(HOLD_SECONDS * 1000 + 200);
    soldAfterThaw += await sell(scene, frozen, match, { buysEvery: 4 });
  }
  return { answers, soldMeanwhile, soldAgain, soldAfterThaw, rewritten: proxy.rewritten };
}

interface SaleOptions {
  /** One of this many fans buys the seats; the remaining fans only hold seats. */
  readonly buysEvery: number;
  readonly maxFans?: number;
}

/** Lets one fan after the other hold seats, until no seat is free or `maxFans` fans have seats. Returns the number of fans with seats. */
async function sell(
  scene: Scene,
  replica: Replica,
  match: Match,
  { buysEvery, maxFans = Infinity }: SaleOptions,
): Promise<number> {
  for (let sold = 0; ; sold += 1) {
    const fan = scene.fan(() => replica);
    const held = sold < maxFans ? await fan.hold(match) : undefined;
    if (!held) return sold;
    const ordered = sold % buysEvery === 0 ? await fan.checkOut(held) : undefined;
    if (ordered) await fan.pay(ordered);
  }
}
