import type { SeatVersion, SeatHistory } from '#domain/purchase/seat-history';
import type { SeatState } from './ports.ts';

export interface AvailabilityView {
  readonly sectors: readonly { readonly sectorId: string; readonly available: number }[];
  readonly held: number;
  /** Open windows of the waiting room that already hold seats. */
  readonly windowsHolding: number;
  /** Open windows that have held nothing for so long in total that they keep no seat from the fans behind them. */
  readonly windowsIdle: number;
  /** When it was counted, in milliseconds on the database's clock. */
  readonly countedAtMs: number;
  /** Grows whenever `sectors` changed. */
  readonly version: number;
  /** When it was looked up, on the clock of this process. */
  readonly asOfMs: number;
}

export interface SeatMapView extends SeatVersion {
  /** What has become of each seat: the first letter of its status. Two that are the same text are the same picture. */
  readonly letters: string;
  readonly seats: readonly SeatState[];
  readonly history: SeatHistory;
}

/**
 * What everybody looks at, looked up once for all: at most a second old, and never older than the end of a hold in it. The same
 * object as long as nothing changed.
 */
export abstract class SeatViews {
  abstract sectors(matchId: string): Promise<AvailabilityView>;
  abstract seats(sectorId: string): Promise<SeatMapView>;
  /** Somebody here took seats or gave some back: who looks from now on sees it. */
  abstract changed(matchId: string, sectorId?: string): void;
}
