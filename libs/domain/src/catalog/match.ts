import type { SaleStatus } from './sale.ts';

/** `locked`: no ticket of the match can be offered, and no offer can be accepted. */
export const transferPolicies = ['allowed', 'locked'] as const;
export type TransferPolicy = (typeof transferPolicies)[number];

/** What an operator says about a match. */
export interface MatchFacts {
  readonly home: string;
  readonly away: string;
  readonly venue: string;
  readonly kickoffAt: Date;
  readonly currency: string;
  readonly maxTicketsPerFan: number;
  readonly queueRequired: boolean;
  readonly opensAt: Date | null;
  readonly processingRate: number;
  readonly maxOpenWindows: number;
}

/** A match with the settings of its queue and the state of its sale. */
export interface CatalogMatch extends MatchFacts {
  readonly id: string;
  /** The status at the time of reading: a scheduled sale is open once `opensAt` has passed. */
  readonly saleStatus: SaleStatus;
  readonly pauseReason: string | null;
  /** When an operator cancelled the match; null if it is not cancelled. */
  readonly cancelledAt: Date | null;
  readonly cancelReason: string | null;
  /** Whether fans may give tickets to each other. */
  readonly transfers: TransferPolicy;
}

/** What an operator says about a sector, except how its seats are laid out. */
export interface SectorFacts {
  readonly name: string;
  readonly gate: string | null;
  /** Whether its places are for people in wheelchairs. */
  readonly wheelchair: boolean;
  readonly priceCents: number;
}

/** A part of the stadium with one price, for one match. It never changes. */
export interface CatalogSector extends SectorFacts {
  readonly id: string;
  readonly matchId: string;
  readonly kind: 'seated' | 'standing';
  readonly capacity: number;
}
