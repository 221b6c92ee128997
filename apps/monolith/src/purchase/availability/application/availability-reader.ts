import type { SeatVersion, SeatHistory } from '#domain/purchase/seat-history';
import type { SeatsLeft } from '../../purchase.api.ts';
import type { SeatState } from './ports.ts';

/** One count of the free seats of a match, by sector, with the numbers that the waiting room needs. */
export interface AvailabilityView extends Pick<SeatsLeft, 'sectors' | 'held' | 'countedAtMs'> {
  /** Number of open windows (turns of the waiting room) that hold seats. */
  readonly windowsHolding: number;
  /**
   * Number of idle windows: open turns that have held nothing for `QUEUE_IDLE_TURN_SECONDS` in total. No free seat is kept for
   * them.
   */
  readonly windowsIdle: number;
  /** Grows whenever `sectors` changed. */
  readonly version: number;
  /** When the read began, on the clock of this process (`performance.now`). */
  readonly readAtMs: number;
}

/** The seats of a sector and their states. */
export interface SeatMapView extends SeatVersion {
  /** The state of each seat: the first letter of its status. Two seat maps with the same letters have the same content. */
  readonly letters: string;
  readonly seats: readonly SeatState[];
  readonly history: SeatHistory;
}

/**
 * Views of seats for any caller, read from the database once for all requests of this process. A view is at most one second old,
 * and is read again when one of its holds ends. Seat maps stay the same object as long as no seat has changed.
 */
export abstract class SeatViews {
  /** The numbers of free seats of a match, by sector, for somebody who looks at them. */
  abstract sectors(matchId: string): Promise<AvailabilityView>;
  /**
   * The same numbers for the decisions about the sale and the waiting room. They are always counted by the primary database: a
   * replica has another clock, and the waiting room ignores a count whose time is before that of the last one.
   */
  abstract decisiveSectors(matchId: string): Promise<AvailabilityView>;
  /** All seats of a sector with their states. */
  abstract seats(sectorId: string): Promise<SeatMapView>;
  /** Call this after this process has taken or freed seats: requests after this call see the change. */
  abstract invalidate(matchId: string, sectorId?: string): void;
}
