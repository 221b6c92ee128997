import type { SeatVersion, SeatHistory } from '#domain/purchase/seat-history';
import type { SeatState } from './ports.ts';

/** How many seats of a match are left, by sector. */
export interface AvailabilityView {
  readonly sectors: readonly { readonly sectorId: string; readonly available: number }[];
  readonly held: number;
  /** Number of open windows of the waiting room that hold seats. */
  readonly windowsHolding: number;
  /** Number of open windows that have held nothing for so long in total that they do not count against the free seats. */
  readonly windowsIdle: number;
  /** Time of the count, in milliseconds on the database's clock. */
  readonly countedAtMs: number;
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
 * What any caller may see of the seats, read once for all requests of this process. A view is at most one second old, and never
 * older than the end of a hold in it. Requests get the same object as long as nothing has changed.
 */
export abstract class SeatViews {
  abstract sectors(matchId: string): Promise<AvailabilityView>;
  abstract seats(sectorId: string): Promise<SeatMapView>;
  /** This process has taken or freed seats: requests after this call see the change. */
  abstract invalidate(matchId: string, sectorId?: string): void;
}
