import { TransactionManager, type Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { randomUUID } from 'node:crypto';
import type { MatchOnSale } from '../../testing/whole-monolith.ts';
import { QuotaPlacesApi, type ClaimResult, type PlaceMove } from '../quota-places.api.ts';
import type { BoxOffice, HeldSeats } from './box-office.ts';

/** An invitation that `QuotaOffice` has issued. */
export interface Invited {
  readonly id: string;
  readonly matchId: string;
  readonly sectorId: string;
  readonly quotaId: string;
  readonly seatIds: readonly string[];
}

const HOUR_MS = 3_600_000;

/** Test helper: makes quotas and invitations in the database, and calls `QuotaPlacesApi` as the module of quotas does. */
export class QuotaOffice {
  readonly places: QuotaPlacesApi;

  constructor(private readonly office: BoxOffice) {
    this.places = office.monolith.get(QuotaPlacesApi);
  }

  inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.office.monolith.get(TransactionManager).run(work);
  }

  /** Creates a quota of these places, which are free for the public. */
  async quota(match: MatchOnSale, seatIds: readonly string[]): Promise<string> {
    const id = randomUUID();
    await this.office.rows(
      `insert into quotas (id, match_id, depth, name, kind, price_cents) values ($1, $2, 1, 'Fan club', 'fan_group', '{}')`,
      [id, match.id],
    );
    await this.move({ matchId: match.id, from: null, to: id, seatIds });
    return id;
  }

  /** Moves places, announces the move, and writes the row of the ledger. */
  async move(move: PlaceMove): Promise<void> {
    const { matchId, from, to, seatIds } = move;
    const moved = await this.inTransaction(async (tx) => {
      const places = await this.places.move(tx, move);
      await inside(tx).rows(
        `insert into quota_moves (id, match_id, kind, actor, from_quota, to_quota, quantity, reason, seat_ids)
         values (gen_random_uuid(), $1, 'move', 'system', $2, $3, cardinality($4::uuid[]), 'test', $4)`,
        [matchId, from, to, seatIds],
      );
      return places;
    });
    this.places.announce([moved]);
  }

  /** Binds the places to a new invitation. */
  async invite(match: MatchOnSale, quotaId: string, seatIds: readonly string[]): Promise<Invited> {
    const id = randomUUID();
    const [seat] = await this.office.rows<{ sectorId: string }>(`select sector_id as "sectorId" from seats where id = $1`, [
      seatIds[0],
    ]);
    await this.inTransaction(async (tx) => {
      await inside(tx).rows(
        `insert into invitations (id, match_id, quota_id, email, locale, sector_id, seat_ids, quantity, expires_at, created_by)
         values ($1, $2, $3, 'guest@example.hr', 'hr', $4, $5, cardinality($5::uuid[]), now() + interval '1 day', 'test')`,
        [id, match.id, quotaId, seat?.sectorId, seatIds],
      );
      await this.places.bind(tx, quotaId, [{ boundTo: id, seatIds }]);
    });
    return { id, matchId: match.id, sectorId: seat?.sectorId ?? '', quotaId, seatIds };
  }

  claim(
    { id, matchId, sectorId, seatIds }: Invited,
    options: { as?: string; priceCents?: number; until?: Date } = {},
  ): Promise<ClaimResult> {
    const { as: userId = randomUUID(), priceCents = 2000, until = new Date(Date.now() + HOUR_MS) } = options;
    const claim = { invitationId: id, matchId, sectorId, seatIds, userId, priceCents, until };
    return this.inTransaction(async (tx) => {
      const result = await this.places.hold(tx, claim);
      if (result.kind === 'held')
        await inside(tx).rows(`update invitations set reservation_id = $2 where id = $1`, [id, result.reservation.id]);
      return result;
    });
  }

  /** Like `claim`, but throws if the places are not held. The result can be checked out with the box office. */
  async claimed(invited: Invited, options: { as?: string; priceCents?: number; until?: Date } = {}): Promise<HeldSeats> {
    const { as: userId = randomUUID() } = options;
    const result = await this.claim(invited, { ...options, as: userId });
    if (result.kind !== 'held') throw new Error(`not held: ${result.kind}`);
    return { ...result.reservation, userId, seatIds: invited.seatIds };
  }

  endHold(reservationId: string): Promise<'ended' | 'paid' | 'over'> {
    return this.inTransaction((tx) => this.places.endHold(tx, reservationId));
  }

  /** Withdraws the invitation without ending its hold. */
  unbind({ id, seatIds }: Pick<Invited, 'id' | 'seatIds'>): Promise<readonly string[]> {
    return this.inTransaction(async (tx) => {
      const free = await this.places.unbind(tx, [{ boundTo: id, seatIds }]);
      await inside(tx).rows(`update invitations set status = 'withdrawn' where id = $1`, [id]);
      return free;
    });
  }

  /** The places of a quota, or of the public with null: total, free, invited, held and sold. */
  async counts(match: MatchOnSale, quotaId: string | null): Promise<readonly number[]> {
    const counts = await this.places.counts({ matchId: match.id });
    const own = counts.filter((count) => count.quotaId === quotaId);
    return (['total', 'free', 'invited', 'held', 'sold'] as const).map((state) => own.reduce((sum, n) => sum + n[state], 0));
  }

  /** The stored status of the place, whether it is in a quota, and whether it is bound. */
  async place(seatId: string | undefined): Promise<string> {
    const [seat] = await this.office.rows<{ status: string; inQuota: boolean; isBound: boolean }>(
      `select status, quota_id is not null as "inQuota", bound_to is not null as "isBound" from seats where id = $1`,
      [seatId],
    );
    return [seat?.status, seat?.inQuota ? 'of a quota' : 'of the public', ...(seat?.isBound ? ['bound'] : [])].join(' ');
  }
}
