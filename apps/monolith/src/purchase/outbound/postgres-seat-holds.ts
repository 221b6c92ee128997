import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { assertHoldsAllowed } from '#domain/catalog/sale';
import { assertWithinLimit } from '#domain/purchase/ticket-limit';
import { DomainError } from '#domain/shared/domain-error';
import { newId } from '#platform/ids';
import { inside } from '#platform/postgres/transaction';
import {
  SeatHolds,
  type HoldOutcome,
  type HoldRequest,
  type MatchForSale,
  type MatchesForSale,
  type Reservation,
  type SectorForSale,
} from '../application/ports.ts';
import type { FanSeats, PostgresFanSeats } from './postgres-fan-seats.ts';
import type { OpenWindow, PostgresPurchaseWindows } from './postgres-purchase-windows.ts';

type Asked = Omit<HoldRequest, 'seatIds' | 'together'> & { wanted: number };

/** Ends the transaction without a trace; the request was refused, so its key may be used again. */
class SeatsLost extends Error {
  constructor(
    readonly taken: string[],
    readonly busy: string[],
  ) {
    super('lost the seats');
  }
}

/** Ends it too: this fan got seats after they were counted, so they are counted again. */
class CountedTooEarly extends Error {}

interface LockedSeat {
  readonly id: string;
  readonly row: string | null;
  readonly number: number | null;
  readonly free: boolean;
}

/**
 * Locks exactly the proposed seats, by key and in one order. SKIP LOCKED: who is second does not wait but chooses again.
 * Not `for no key update`: nobody else may even look at them with intent.
 */
const LOCK_SEATS = `
  select id, row_label as row, number,
         sector_id = $2 and (status = 'available' or (status = 'held' and expires_at <= now())) as free
  from seats where id = any($1::uuid[]) order by id for update skip locked`;

/** Everybody who gets here in time gets seats or is refused; so many wins of the same fan in between are no accident. */
const MOST_COUNTS = 25;

/**
 * The hold path. One SERIALIZABLE transaction by key: sale, window, fan, seats, reservation and the idempotency row. What it
 * reads is never a range that others write, so buyers of different seats do not meet: counting a fan's seats inside it made
 * 500 buyers of a new match abort each other 300 times, as all their rows began on one page of the index. The port is shaped
 * so that one statement for many requests can take its place.
 */
export class PostgresSeatHolds extends SeatHolds {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly matches: MatchesForSale,
    private readonly windows: PostgresPurchaseWindows,
    private readonly fans: PostgresFanSeats,
    private readonly holdSeconds: number,
  ) {
    super();
  }

  async check(asked: Asked): Promise<void> {
    await this.windows.learn(asked);
    const match = await this.saleOf(asked.matchId);
    if (match.queueRequired) await this.windows.open(asked);
    await this.countWithinLimit(asked, match);
  }

  async take(request: HoldRequest): Promise<HoldOutcome> {
    const sector = await this.matches.sector(request.sectorId);
    if (!sector) throw new DomainError('NOT_FOUND', 'There is no such sector.');
    for (let count = 0; count < MOST_COUNTS; count += 1) {
      try {
        return { kind: 'taken', reservation: await this.tryToTake(request, sector) };
      } catch (error) {
        if (error instanceof SeatsLost) return { kind: 'lost', taken: error.taken, busy: error.busy };
        if (!(error instanceof CountedTooEarly)) throw error;
      }
    }
    throw new DomainError('LOCK_TIMEOUT', 'This account is buying too much at once. Nothing was changed; try again.');
  }

  private async tryToTake(request: HoldRequest, sector: SectorForSale): Promise<Reservation> {
    const counted = await this.countWithinLimit(
      { ...request, wanted: request.seatIds.length },
      await this.saleOf(request.matchId),
    );
    return this.transactions.run(async (tx) => {
      const seats = await lockFree(tx, request);
      const match = await this.saleOf(request.matchId, tx);
      const window = match.queueRequired ? await this.windows.open(request, tx) : undefined;
      if (!(await this.fans.gets(tx, request, counted.revision))) throw new CountedTooEarly();
      return this.reserve(tx, request, sector, seats, { match, window });
    });
  }

  private async saleOf(matchId: string, tx?: Transaction): Promise<MatchForSale> {
    const match = await this.matches.match(matchId, tx);
    if (!match) throw new DomainError('NOT_FOUND', 'There is no such match.');
    assertHoldsAllowed(match);
    return match;
  }

  private async countWithinLimit(asked: Asked, { maxTicketsPerFan: limit }: MatchForSale): Promise<FanSeats> {
    const counted = await this.fans.count(asked);
    assertWithinLimit({ limit, taken: counted.taken, wanted: asked.wanted });
    return counted;
  }

  private async reserve(
    tx: Transaction,
    request: HoldRequest,
    sector: SectorForSale,
    seats: readonly LockedSeat[],
    { match, window }: { match: MatchForSale; window: OpenWindow | undefined },
  ): Promise<Reservation> {
    const id = newId();
    const totalCents = sector.priceCents * seats.length;
    const [row] = await inside(tx).rows<{ expires_at: Date }>(
      `insert into reservations (id, match_id, sector_id, user_id, session_token, status, quantity, together, total_cents, currency, expires_at)
       values ($1, $2, $3, $4, $5, 'held', $6, $7, $8, $9, date_trunc('milliseconds', least(now() + make_interval(secs => $10), $11::timestamptz))) returning expires_at`,
      [
        id,
        request.matchId,
        sector.id,
        request.userId,
        window?.sessionToken ?? null,
        seats.length,
        request.together,
        totalCents,
        match.currency,
        this.holdSeconds,
        window?.expiresAt ?? 'infinity',
      ],
    );
    await inside(tx).rows(`update seats set status = 'held', reservation_id = $2, expires_at = $3 where id = any($1::uuid[])`, [
      seats.map((seat) => seat.id),
      id,
      row?.expires_at,
    ]);
    await inside(tx).rows(
      `insert into reservation_seats (reservation_id, seat_id, position, sector, row_label, number, price_cents)
       select $1, seat_id, position, $2, row_label, number, $3
       from unnest($4::uuid[], $5::text[], $6::int[]) with ordinality as s(seat_id, row_label, number, position)`,
      [
        id,
        sector.name,
        sector.priceCents,
        seats.map((seat) => seat.id),
        seats.map((seat) => seat.row),
        seats.map((seat) => seat.number),
      ],
    );
    return {
      id,
      matchId: request.matchId,
      sectorId: sector.id,
      userId: request.userId,
      sessionToken: window?.sessionToken ?? null,
      status: 'held',
      together: request.together,
      seats: seats.map((seat) => ({
        seatId: seat.id,
        sector: sector.name,
        row: seat.row,
        number: seat.number,
        priceCents: sector.priceCents,
      })),
      totalCents,
      currency: match.currency,
      expiresAt: row?.expires_at ?? new Date(0),
    };
  }
}

async function lockFree(tx: Transaction, request: HoldRequest): Promise<LockedSeat[]> {
  const locked = await inside(tx).rows<LockedSeat>(LOCK_SEATS, [request.seatIds, request.sectorId]);
  const lockedIds = new Set(locked.map(({ id }) => id));
  const busy = request.seatIds.filter((id) => !lockedIds.has(id));
  const taken = locked.filter(({ free }) => !free).map(({ id }) => id);
  if (busy.length + taken.length > 0) throw new SeatsLost(taken, busy);
  return locked.sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
}
