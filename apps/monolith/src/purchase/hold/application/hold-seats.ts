import { blacklisted } from '#domain/blacklist/blacklist-rules';
import { nearestBlock } from '#domain/purchase/nearest-block';
import { DomainError } from '#domain/shared/domain-error';
import type { Reservation, SectorForSale } from '../../application/ports.ts';
import type { MatchesForSale } from '../../application/sale-ports.ts';
import type { Blacklist, HoldCaller, SeatHolds, SectorReader } from './ports.ts';

/** A fan's request to hold seats of a match: the best `quantity` seats of a sector, or exactly `seatIds`. */
export type HoldSeatsCommand = HoldCaller &
  ({ readonly sectorId: string; readonly quantity: number } | { readonly seatIds: readonly string[] });

/**
 * Holds seats for one fan. This class finds the sector, then `SeatHolds` chooses and holds the seats in one step. If they could not
 * be held, this class reads the sector from the database and refuses with the reason.
 */
export class HoldSeats {
  constructor(
    private readonly matches: Pick<MatchesForSale, 'sector'>,
    private readonly sectorStates: SectorReader,
    private readonly seatHolds: SeatHolds,
    private readonly blacklist: Blacklist,
  ) {}

  async execute(command: HoldSeatsCommand): Promise<Reservation> {
    const sector = await this.sectorOf(command);
    if (this.blacklist.has(command.userId)) throw blacklisted();
    const outcome = await this.seatHolds.hold({ ...command, sector });
    if (outcome.kind === 'held') return outcome.reservation;
    if ('quantity' in command) throw await this.tooFewSeats(sector, command.quantity);
    if (outcome.kind === 'none') throw await this.tooFewSeats(sector, command.seatIds.length);
    throw await this.chosenSeatsLost(sector, command.seatIds, outcome);
  }

  private async sectorOf(command: HoldSeatsCommand): Promise<SectorForSale> {
    const sectorId = 'quantity' in command ? command.sectorId : await this.sectorOfSeats(command.matchId, command.seatIds);
    const sector = await this.matches.sector(sectorId);
    if (!sector || sector.matchId !== command.matchId)
      throw new DomainError('NOT_FOUND', 'There is no such sector in this match.');
    return sector;
  }

  private async sectorOfSeats(matchId: string, seatIds: readonly string[]): Promise<string> {
    const sectors = await this.sectorStates.sectorsOf(matchId, seatIds);
    if (sectors.size < seatIds.length) throw new DomainError('NOT_FOUND', 'There are no such seats in this match.');
    const [sectorId, ...others] = new Set(sectors.values());
    if (!sectorId || others.length > 0) {
      throw new DomainError('VALIDATION_FAILED', 'Seats of one reservation are in one sector.', {
        errors: [{ path: 'seat_ids', message: 'must be in one sector' }],
      });
    }
    return sectorId;
  }

  /** The refusal of a request for chosen seats: which of them are taken, and the nearest free block as the alternative. */
  private async chosenSeatsLost(
    sector: SectorForSale,
    chosen: readonly string[],
    { taken, busy }: { readonly taken: readonly string[]; readonly busy: readonly string[] },
  ): Promise<DomainError> {
    const state = await this.sectorStates.sectorState(sector.matchId, sector.id);
    const data = { sector_id: sector.id, available: state.available, other_sectors: state.othersHaveSeats };
    if (taken.length === 0)
      return new DomainError('SEATS_BUSY', 'Somebody is taking these seats this moment.', { ...data, seat_ids: busy });
    const seats = await this.sectorStates.seats(sector.id);
    // The seats read here may be a moment old and still show a seat as free that the statement HOLD_BATCH found taken.
    const lost = new Set([...taken, ...busy]);
    const alternative = nearestBlock(
      seats.filter(({ seatId, status }) => status === 'available' && !lost.has(seatId)),
      seats.filter(({ seatId }) => chosen.includes(seatId)),
    );
    return new DomainError('SEATS_UNAVAILABLE', 'Some of these seats are gone.', {
      ...data,
      seat_ids: taken,
      ...(alternative ? { alternative } : {}),
    });
  }

  private async tooFewSeats(sector: SectorForSale, quantity: number): Promise<DomainError> {
    const { available, held, nextExpiryAt, othersHaveSeats } = await this.sectorStates.sectorState(sector.matchId, sector.id);
    const data = { sector_id: sector.id, available, other_sectors: othersHaveSeats };
    if (available >= quantity)
      return new DomainError('SEATS_BUSY', `Seats in ${sector.name} are changing hands right now.`, data);
    if (available > 0)
      return new DomainError('SEATS_UNAVAILABLE', `Only ${available} left in ${sector.name}.`, { ...data, seat_ids: [] });
    if (held > 0) {
      const next_expiry_at = nextExpiryAt?.toISOString();
      const message = `Everything in ${sector.name} is held; some may come back.`;
      return new DomainError('ALL_SEATS_HELD', message, { ...data, next_expiry_at });
    }
    return new DomainError('SOLD_OUT', `${sector.name} is sold out.`, data);
  }
}
