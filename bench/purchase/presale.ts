import type pg from 'pg';

/** Of each sector. */
export const PRESOLD = 0.8;

/**
 * Four fifths of each sector, in pairs of neighbours: the better ones first but not strictly, so that what is left is
 * scattered as after a real sale. Each pair goes to a fan of its own, who bears the name of the reservation. Held until
 * another day is as gone as sold, without orders and tickets to invent.
 */
const CHOOSE_PAIRS = `
  insert into presale
  with pairs as (
    select sector_id, row_index, (number - 1) / 2 as pair, uuidv7() as reservation_id,
           row_number() over (partition by sector_id order by min(rank) * (0.7 + 0.6 * random())) as turn
    from seats where match_id = $1 group by 1, 2, 3)
  select s.id, p.reservation_id, s.sector_id, s.row_label, s.number, (p.turn - 1) * $3 / $2
  from pairs p join seats s on s.sector_id = p.sector_id and s.row_index = p.row_index and (s.number - 1) / 2 = p.pair
  where p.turn <= $2`;

/** Bit by bit, as a sale comes: PostgreSQL tidies its pages in between, and would not within one statement. */
const STEPS = 8;
const SELL_A_STEP = [
  `insert into reservations (id, match_id, sector_id, user_id, status, seat_ids, quantity, sector, price_cents, together, total_cents, currency,
                             expires_at)
   select reservation_id, $2::uuid, sector_id, reservation_id, 'held', array_agg(seat_id order by number), 2, 'Sector', 2500, true, 5000, 'EUR',
          date_trunc('day', now()) + interval '2 days'
   from presale where step = $1 group by reservation_id, sector_id`,
  `update seats set status = 'held', reservation_id = p.reservation_id, expires_at = date_trunc('day', now()) + interval '2 days'
   from presale p where p.step = $1 and id = seat_id and match_id = $2`,
  `insert into fan_seats (match_id, user_id, revision, reservation_ids) select distinct $2::uuid, reservation_id, 1, array[reservation_id] from presale where step = $1`,
];

/** Takes most of a match off sale. */
export async function presell(client: pg.Client, matchId: string, seatsPerSector: number): Promise<void> {
  await client.query(`create temp table presale
    (seat_id uuid, reservation_id uuid, sector_id uuid, row_label text, number integer, step integer)`);
  await client.query(CHOOSE_PAIRS, [matchId, (seatsPerSector / 2) * PRESOLD, STEPS]);
  await client.query('analyze presale');
  for (let step = 0; step < STEPS; step += 1) for (const sql of SELL_A_STEP) await client.query(sql, [step, matchId]);
  await client.query('drop table presale');
}
