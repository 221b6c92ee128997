import { DomainError } from '#domain/shared/domain-error';
import { BLOCKS_TO_DRAW_FROM, chooseBest } from '#domain/purchase/best-available';
import type { HoldOutcome, MatchesForSale, Reservation, SeatHolds, SeatInventory, SectorForSale } from './ports.ts';

interface Wish {
  readonly matchId: string;
  readonly userId: string;
  readonly sessionToken: string | undefined;
}

export type HoldSeatsCommand = Wish &
  ({ readonly sectorId: string; readonly quantity: number } | { readonly seatIds: readonly string[] });

/** Who loses a seat to somebody faster is offered others so often before being told that it is busy. */
const PROPOSALS = 5;

/**
 * Takes seats off sale for one fan. What memory sees is proposed and the database decides: a proposal may be a moment
 * old, so a loser proposes again, and no "sold out" is said before the database was asked for it.
 */
export class HoldSeats {
  constructor(
    private readonly matches: MatchesForSale,
    private readonly inventory: SeatInventory,
    private readonly holds: SeatHolds,
    private readonly random: () => number,
  ) {}

  async execute(command: HoldSeatsCommand): Promise<Reservation> {
    const { matchId, userId, sessionToken } = command;
    const sector = await this.sectorOf(command);
    const wanted = 'quantity' in command ? command.quantity : command.seatIds.length;
    await this.holds.check({ matchId, sectorId: sector.id, userId, sessionToken, wanted });
    return 'quantity' in command ? this.holdBest(command, sector, wanted) : this.holdChosen(command, sector, command.seatIds);
  }

  private async holdBest(wish: Wish, sector: SectorForSale, quantity: number): Promise<Reservation> {
    for (let proposal = 0; proposal < PROPOSALS; proposal += 1) {
      // Who lost looks farther around: 16 at once among the same dozen blocks lost five times in a row, one in twenty of them.
      const blocks = BLOCKS_TO_DRAW_FROM * 4 ** proposal;
      const choice = chooseBest(await this.inventory.free(sector.id), quantity, this.random, blocks);
      if (!choice) throw await this.whyNot(sector, quantity);
      const outcome = await this.take(wish, sector, choice.seatIds, choice.together);
      if (outcome.kind === 'taken') return outcome.reservation;
    }
    const { othersHaveSeats } = await this.inventory.sectorState(sector.matchId, sector.id);
    throw new DomainError('SEATS_BUSY', `Many others are choosing in ${sector.name} right now.`, {
      sector_id: sector.id,
      other_sectors: othersHaveSeats,
    });
  }

  private async holdChosen(wish: Wish, sector: SectorForSale, seatIds: readonly string[]): Promise<Reservation> {
    const outcome = await this.take(wish, sector, seatIds, true);
    if (outcome.kind === 'taken') return outcome.reservation;
    const { othersHaveSeats } = await this.inventory.sectorState(sector.matchId, sector.id);
    if (outcome.taken.length === 0) {
      throw new DomainError('SEATS_BUSY', 'Somebody is taking these seats this moment.', {
        seat_ids: outcome.busy,
        other_sectors: othersHaveSeats,
      });
    }
    const free = await this.inventory.free(sector.id);
    const alternative = chooseBest(free, seatIds.length, this.random);
    const refusal = { seat_ids: outcome.taken, available: free.length, other_sectors: othersHaveSeats };
    throw new DomainError(
      'SEATS_UNAVAILABLE',
      'Some of these seats are gone.',
      alternative ? { ...refusal, alternative: alternative.seatIds } : refusal,
    );
  }

  private take(wish: Wish, sector: SectorForSale, seatIds: readonly string[], together: boolean): Promise<HoldOutcome> {
    const { matchId, userId, sessionToken } = wish;
    return this.holds.take({ matchId, userId, sessionToken, sectorId: sector.id, seatIds, together });
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
