import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import { seatIsFree, seatIsHeld } from '../../seat-is-free.sql.ts';
import type { AvailabilityView } from '../application/availability-reader.ts';

/** When something was read, and when the next hold in it ends, both on the database's clock. */
interface Moment {
  readonly atMs: number;
  readonly nextExpiryMs: number | null;
}

export type CountedSeats = Moment & Pick<AvailabilityView, 'sectors' | 'held' | 'windowsHolding' | 'windowsIdle'>;

export type SeatLetters = Moment & { readonly letters: string };

const IN_MS = (moment: string): string => `(extract(epoch from ${moment}) * 1000)::float8`;

/** How long window `w` has held seats, in seconds; holds that overlap count once. */
const HOLDING_SECONDS = `
  select coalesce(sum(extract(epoch from upper(span) - lower(span))), 0)
  from unnest((select range_agg(tstzrange(r.created_at, greatest(r.created_at, least(r.ended_at, r.expires_at, now()))))
               from reservations r where r.session_token = w.session_token)) as span`;

/**
 * One pass over the match's seats: 12 ms for 40,000, 27 ms for 120,000, and
 * 4 ms more when 1,000 windows hold seats. What is counted stands in no index and no other table, because every hold would have to
 * write there. Who holds is only asked of matches that have windows.
 */
const LEFT = `
  with counted as (
    select sector_id, count(*) filter (where ${seatIsFree('seats')})::int as available,
           count(*) filter (where ${seatIsHeld('seats')})::int as held, min(expires_at) filter (where ${seatIsHeld('seats')}) as next_expiry,
           array_agg(reservation_id) filter (where ${seatIsHeld('seats')} and (select exists (select from purchase_windows where match_id = $1))) as holders
    from seats where match_id = $1 group by sector_id
  ), holding as (
    select count(distinct w.session_token)::int as windows
    from (select distinct unnest(holders) as id from counted) h join reservations r on r.id = h.id
         join purchase_windows w on w.session_token = r.session_token and w.ended_at is null and w.expires_at > now()
  ), idle as (
    select count(*)::int as windows from purchase_windows w
    where w.match_id = $1 and w.expires_at > now() and w.ended_at is null
      and w.created_at <= now() - make_interval(secs => $2)
      and not exists (select from reservations r
                      where r.session_token = w.session_token and r.status in ('held', 'ordered') and r.expires_at > now())
      and extract(epoch from now() - w.created_at) - (${HOLDING_SECONDS}) >= $2
  )
  select ${IN_MS('now()')} as "atMs", ${IN_MS('min(next_expiry)')} as "nextExpiryMs", coalesce(sum(held), 0)::int as held,
         (select windows from holding) as "windowsHolding", (select windows from idle) as "windowsIdle",
         coalesce(jsonb_agg(jsonb_build_object('sectorId', sector_id, 'available', available) order by sector_id), '[]') as sectors
  from counted`;

const SEAT_LETTERS = `
  select ${IN_MS('now()')} as "atMs", ${IN_MS(`min(expires_at) filter (where ${seatIsHeld('seats')})`)} as "nextExpiryMs",
         coalesce(string_agg(case when ${seatIsFree('seats')} then 'a' else left(status, 1) end, '' order by row_index, number, rank), '') as letters
  from seats where sector_id = $1`;

/** The looks that many share (`SharedSeatViews`), and the one that decides. An expired hold is free, on the database's clock. */
export class PostgresAvailability {
  constructor(
    private readonly dataSource: DataSource,
    /** A window that held nothing for so long in total is idle. */
    private readonly idleTurnSeconds: number,
  ) {}

  /** The one query that runs every second while a match is watched. */
  async left(matchId: string): Promise<CountedSeats> {
    const [row] = await this.dataSource.query<CountedSeats[]>(LEFT, [matchId, this.idleTurnSeconds]);
    return row ?? { atMs: 0, nextExpiryMs: null, sectors: [], held: 0, windowsHolding: 0, windowsIdle: 0 };
  }

  /** What has become of each seat of a sector, in the order of its rows: the first letter of its status. */
  async seatLetters(sectorId: string): Promise<SeatLetters> {
    const [row] = await this.dataSource.query<SeatLetters[]>(SEAT_LETTERS, [sectorId]);
    return row ?? { atMs: 0, nextExpiryMs: null, letters: '' };
  }

  /** A number no other living process has. */
  async processNumber(): Promise<number> {
    const [row] = await this.dataSource.query<{ number: number }[]>(`select nextval('seat_view_processes')::int as number`);
    if (!row) throw new Error('a sequence has a next number');
    return row.number;
  }

  /**
   * Is a seat free, or held? As it is in this transaction, which is SERIALIZABLE: read through an index it would mark every
   * seat of the match, 20,000 of them where the server has room for 13,000 marks, and buyers would be told that there is
   * none left. Read in one sweep it is one mark, on the table: 35 ms for 200,000 seats, once when a match is sold out.
   */
  async anyLeft(tx: Transaction, matchId: string): Promise<boolean> {
    await this.planWithIndexes(tx, 'off');
    const [row] = await inside(tx).rows<{ any: boolean }>(
      `select exists (select from seats where match_id = $1 and status in ('available', 'held')) as any`,
      [matchId],
    );
    await this.planWithIndexes(tx, 'on');
    return row?.any ?? false;
  }

  private async planWithIndexes(tx: Transaction, state: 'on' | 'off'): Promise<void> {
    await inside(tx).rows(
      `select set_config('enable_indexscan', $1, true), set_config('enable_bitmapscan', $1, true), set_config('enable_seqscan', $2, true)`,
      [state, state === 'on' ? 'off' : 'on'],
    );
  }
}
