import { newId } from '#platform/ids';
import type { DataSource } from 'typeorm';
import type { SectorReader } from '../../apps/monolith/src/purchase/hold/application/ports.ts';
import { SeatHolds, type HoldOutcome, type HoldRequest } from '../../apps/monolith/src/purchase/hold/application/ports.ts';

/**
 * The negative control of last-seats.db.test.ts: holds seats without the guards of the real code. READ COMMITTED, no row locks, and 5 ms
 * between reading and writing, like a network delay. The test must break this implementation; otherwise it would prove nothing about the
 * real code.
 */
export class UnguardedSeatHolds extends SeatHolds {
  constructor(
    private readonly dataSource: DataSource,
    private readonly sectors: SectorReader,
  ) {
    super();
  }

  async hold(request: HoldRequest): Promise<HoldOutcome> {
    const seatIds = 'seatIds' in request ? request.seatIds : await this.chooseSeats(request.sector.id, request.quantity);
    if (seatIds.length === 0) return { kind: 'none' };
    return this.dataSource.transaction('READ COMMITTED', async (manager) => {
      const free = await manager.query<{ id: string; row: string; number: number }[]>(
        `select id, row_label as row, number from seats where id = any($1::uuid[]) and (status = 'available' or expires_at <= now())`,
        [seatIds],
      );
      if (free.length < seatIds.length) return { kind: 'lost', taken: [...seatIds], busy: [] };
      await new Promise((resolve) => setTimeout(resolve, 5));
      const id = newId();
      const expiresAt = new Date(Date.now() + 600_000);
      const totalCents = request.sector.priceCents * free.length;
      await manager.query(
        `insert into reservations (id, match_id, sector_id, user_id, status, seat_ids, quantity, sector, price_cents, together, total_cents,
                                   currency, expires_at)
         values ($1, $2, $3, $4, 'held', $5, $6, $7, $8, true, $9, 'EUR', $10)`,
        [
          ...[id, request.matchId, request.sector.id, request.userId, seatIds, free.length],
          ...[request.sector.name, request.sector.priceCents, totalCents, expiresAt],
        ],
      );
      await manager.query(`update seats set status = 'held', reservation_id = $2, expires_at = $3 where id = any($1::uuid[])`, [
        seatIds,
        id,
        expiresAt,
      ]);
      const seats = free.map((seat) => ({
        seatId: seat.id,
        sector: request.sector.name,
        row: seat.row,
        number: seat.number,
        priceCents: request.sector.priceCents,
      }));
      const { matchId, userId, sector } = request;
      const reservation = {
        id,
        matchId,
        sectorId: sector.id,
        userId,
        sessionToken: null,
        invitationId: null,
        status: 'held',
        together: true,
        seats,
        totalCents,
        currency: 'EUR',
        expiresAt,
      } as const;
      return { kind: 'held', reservation };
    });
  }

  /** Chooses consecutive seats at a random position among the best free seats, so that not all buyers choose the same seats. */
  private async chooseSeats(sectorId: string, quantity: number): Promise<readonly string[]> {
    const seats = await this.sectors.seats(sectorId);
    const free = seats.filter(({ status }) => status === 'available').sort((a, b) => a.rank - b.rank);
    if (free.length < quantity) return [];
    const start = Math.floor(Math.random() * (Math.min(free.length, 12 * quantity) - quantity + 1));
    return free.slice(start, start + quantity).map(({ seatId }) => seatId);
  }
}
