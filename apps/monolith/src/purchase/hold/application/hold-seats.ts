import { blacklisted } from '#domain/blacklist/listed-fans';
import { DomainError } from '#domain/shared/domain-error';
import { nearestBlock } from '#domain/purchase/nearest-block';
import type { MatchesForSale, Reservation, SectorForSale } from '../../application/ports.ts';
import type { SeatInventory } from '../../availability/application/ports.ts';
import type { Blacklist, SeatHolds } from './ports.ts';

export type HoldSeatsCommand = {
  readonly matchId: string;
  readonly userId: string;
  readonly sessionToken: string | undefined;
} & ({ readonly sectorId: string; readonly quantity: number } | { readonly seatIds: readonly string[] });

/**
 * Takes seats off sale for one fan. Choosing and taking are one step, behind the port; here it is said what was wished, and
 * why a wish could not be met. No "sold out" is said before the database was asked for it.
 */
export class HoldSeats {
  constructor(
    private readonly matches: MatchesForSale,
    private readonly inventory: SeatInventory,
    private readonly holds: SeatHolds,
    private readonly blacklist: Blacklist,
  ) {}

  async execute(command: HoldSeatsCommand): Promise<Reservation> {
    const sector = await this.sectorOf(command);
    const { matchId, userId, sessionToken } = command;
    if (this.blacklist.has(userId)) throw blacklisted();
    const wish = { matchId, userId, sessionToken, sector };
    const outcome = await this.holds.take(
      'quantity' in command ? { ...wish, quantity: command.quantity } : { ...wish, seatIds: command.seatIds },
    );
    if (outcome.kind === 'taken') return outcome.reservation;
    // Whoever lost the best seats again and again hears what there is, as if none had been found.
    if (outcome.kind === 'none' || 'quantity' in command)
      throw await this.whyNot(sector, 'quantity' in command ? command.quantity : command.seatIds.length);
    throw await this.lost(sector, command.seatIds, outcome);
  }

  private async lost(
    sector: SectorForSale,
    chosen: readonly string[],
    { taken, busy }: { taken: readonly string[]; busy: readonly string[] },
  ): Promise<DomainError> {
    const state = await this.inventory.sectorState(sector.matchId, sector.id);
    const data = { sector_id: sector.id, available: state.available, other_sectors: state.othersHaveSeats };
    if (taken.length === 0)
      return new DomainError('SEATS_BUSY', 'Somebody is taking these seats this moment.', { ...data, seat_ids: busy });
    const seats = await this.inventory.seats(sector.id);
    // Anybody may look at a moment-old picture of the sector: what was just found to be gone is not offered in its place.
    const gone = new Set([...taken, ...busy]);
    const alternative = nearestBlock(
      seats.filter(({ seatId, status }) => status === 'available' && !gone.has(seatId)),
      seats.filter(({ seatId }) => chosen.includes(seatId)),
    );
    return new DomainError('SEATS_UNAVAILABLE', 'Some of these seats are gone.', {
      ...data,
      seat_ids: taken,
      ...(alternative ? { alternative } : {}),
    });
  }

  private async sectorOf(command: HoldSeatsCommand): Promise<SectorForSale> {
    const sectorId = 'quantity' in command ? command.sectorId : await this.oneSectorOf(command.matchId, command.seatIds);
    const sector = await this.matches.sector(sectorId);
    if (!sector || sector.matchId !== command.matchId)
      throw new DomainError('NOT_FOUND', 'There is no such sector in this match.');
    return sector;
  }

  private async oneSectorOf(matchId: string, seatIds: readonly string[]): Promise<string> {
    const sectors = await this.inventory.sectorsOf(matchId, seatIds);
    if (sectors.size < seatIds.length) throw new DomainError('NOT_FOUND', 'There are no such seats in this match.');
    const [sectorId, ...others] = new Set(sectors.values());
    if (!sectorId || others.length > 0) {
      throw new DomainError('VALIDATION_FAILED', 'Seats of one reservation are in one sector.', {
        errors: [{ path: 'seat_ids', message: 'must be in one sector' }],
      });
    }
    return sectorId;
  }

  /** Four different answers: fewer than wanted, all held, all sold; "busy" is said elsewhere. */
  private async whyNot(sector: SectorForSale, quantity: number): Promise<DomainError> {
    const state = await this.inventory.sectorState(sector.matchId, sector.id);
    const data = { sector_id: sector.id, available: state.available, other_sectors: state.othersHaveSeats };
    if (state.available >= quantity)
      return new DomainError('SEATS_BUSY', `Seats in ${sector.name} are changing hands right now.`, data);
    if (state.available > 0) {
      return new DomainError('SEATS_UNAVAILABLE', `Only ${state.available} left in ${sector.name}.`, { ...data, seat_ids: [] });
    }
    if (state.held > 0) {
      const next_expiry_at = state.nextExpiryAt?.toISOString();
      return new DomainError('ALL_SEATS_HELD', `Everything in ${sector.name} is held; some may come back.`, {
        ...data,
        next_expiry_at,
      });
    }
    return new DomainError('SOLD_OUT', `${sector.name} is sold out.`, data);
  }
}
