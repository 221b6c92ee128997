import { randomUUID } from 'node:crypto';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';

/*
 * The attack: five accounts hold all 20 seats, never pay, and hold them again in the moment in which the holds expire. Honest fans try
 * all the time and would pay.
 */

const SEATS = 20;
const PER_FAN = 4;
const HOLD_SECONDS = 5;
const ATTACKERS = SEATS / PER_FAN;

let opened: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;

beforeAll(async () => {
  // A cooldown is as long as a hold, as with the default settings.
  opened = await openBoxOffice({ RESERVATION_HOLD_SECONDS: String(HOLD_SECONDS), HOLD_COOLDOWN_SECONDS: String(HOLD_SECONDS) });
  office = opened.office;
});
afterAll(() => opened.close());

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Holds seats again at each expiry until `untilMs`. Returns the codes of the refusals. */
async function attack(as: string, untilMs: number): Promise<string[]> {
  const refusals: string[] = [];
  while (Date.now() < untilMs) {
    const { status, json } = await office.hold(match, { as, quantity: PER_FAN });
    if (status === 201) await sleep(Date.parse(json.expires_at) - Date.now());
    else {
      refusals.push(json.code);
      await sleep(25);
    }
  }
  return refusals;
}

/** Tries to hold two seats every quarter of a second, and pays for them. Returns the number of refused tries. */
async function buyHonestly(untilMs: number): Promise<number> {
  const as = randomUUID();
  for (let refused = 0; Date.now() < untilMs; refused += 1) {
    const { status, json } = await office.hold(match, { as, quantity: 2 });
    if (status === 201) {
      const seatIds = json.seats.map(({ seat_id }: { seat_id: string }) => seat_id);
      const ordered = await office.ordered({ ...json, userId: as, seatIds });
      await office.settle(office.report(ordered));
      return refused;
    }
    await sleep(250);
    if (Date.now() >= untilMs) return refused;
  }
  return 0;
}

test('five accounts that hold 20 seats again and again: honest fans have at least 90 % of the seats after four hold times', async () => {
  match = await putOnSale(office.monolith, { sectors: [seated('East A', 4, 5)], max_tickets_per_fan: PER_FAN });
  const untilMs = Date.now() + 4 * HOLD_SECONDS * 1000;
  const attackers = Array.from({ length: ATTACKERS }, () => attack(randomUUID(), untilMs));
  await sleep(500);
  expect(await office.seatRows(match)).toEqual({ held: SEATS });
  const refused = await Promise.all(Array.from({ length: SEATS / 2 }, () => buyHonestly(untilMs)));
  const { sold = 0 } = await office.seatRows(match);
  const codes = new Set((await Promise.all(attackers)).flat());
  process.stdout.write(
    `honest fans bought ${sold} of ${SEATS} seats after ${refused.reduce((sum, n) => sum + n, 0)} refused tries\n`,
  );
  expect(sold).toBeGreaterThanOrEqual(0.9 * SEATS);
  expect(codes).toContain('HOLD_COOLDOWN');
}, 60_000);
