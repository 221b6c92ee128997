import type pg from 'pg';

/** Share of the seats of each sector that is taken (held for two days) before the run. */
export const PRESOLD_SHARE = 0.8;

/**
 * Chooses four fifths of each sector in pairs of adjacent seats. Better seats are more likely to be chosen, with some randomness, so that
 * the remaining seats are scattered like after a real sale. Each pair belongs to a different fan, whose id is that of the reservation.
 * The seats are held for two days instead of sold, so that no orders and tickets are needed.
 */
const CHOOSE_PAIRS = `
  insert into presale
  with pairs as (
    select sector_id, row_index, (number - 1) / 2 as pair, uuidv7() as reservation_id,
           row_number() over (partition by sector_id order by min(rank) * (0.7 + 0.6 * random())) as pair_order
    from seats where match_id = $1 group by 1, 2, 3)
  select s.id, p.reservation_id, s.sector_id, s.row_label, s.number, (p.pair_order - 1) * $3 / $2
  from pairs p join seats s on s.sector_id = p.sector_id and s.row_index = p.row_index and (s.number - 1) / 2 = p.pair
  where p.pair_order <= $2`;

/** The presale runs in several steps: PostgreSQL can prune pages between statements, as in a real sale, but not within one. */
const STEPS = 8;
const STEP_STATEMENTS = [
  `insert into reservations (id, match_id, sector_id, user_id, status, seat_ids, quantity, sector, price_cents, together, total_cents, currency,
                             expires_at)
   select reservation_id, $2::uuid, sector_id, reservation_id, 'held', array_agg(seat_id order by number), 2, 'Sector', 2500, true, 5000, 'EUR',
          date_trunc('day', now()) + interval '2 days'
   from presale where step = $1 group by reservation_id, sector_id`,
  `update seats set status = 'held', reservation_id = p.reservation_id, expires_at = date_trunc('day', now()) + interval '2 days'
   from presale p where p.step = $1 and id = seat_id and match_id = $2`,
  `insert into fan_seats (match_id, user_id, revision, reservation_ids) select distinct $2::uuid, reservation_id, 1, array[reservation_id] from presale where step = $1`,
];

/** Holds PRESOLD_SHARE of the seats of a match. */
export async function presell(client: pg.Client, matchId: string, seatsPerSector: number): Promise<void> {
  await client.query(`create temp table presale
    (seat_id uuid, reservation_id uuid, sector_id uuid, row_label text, number integer, step integer)`);
  await client.query(CHOOSE_PAIRS, [matchId, (seatsPerSector / 2) * PRESOLD_SHARE, STEPS]);
  await client.query('analyze presale');
  for (let step = 0; step < STEPS; step += 1) for (const sql of STEP_STATEMENTS) await client.query(sql, [step, matchId]);
  await client.query('drop table presale');
}
