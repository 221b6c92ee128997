import type { SaleStatus } from '#domain/catalog/sale';
import { EntitySchema } from 'typeorm';

/** A row of the table `matches`. */
export interface MatchRow {
  id: string;
  home: string;
  away: string;
  venue: string;
  kickoffAt: Date;
  currency: string;
  maxTicketsPerFan: number;
  queueRequired: boolean;
  opensAt: Date | null;
  saleStatus: SaleStatus;
  pauseReason: string | null;
  cancelledAt: Date | null;
  cancelReason: string | null;
  processingRate: number;
  maxOpenWindows: number;
  createdAt: Date;
}

export const matchTable = new EntitySchema<MatchRow>({
  name: 'match',
  tableName: 'matches',
  columns: {
    id: { type: 'uuid', primary: true },
    home: { type: 'text' },
    away: { type: 'text' },
    venue: { type: 'text' },
    kickoffAt: { name: 'kickoff_at', type: 'timestamptz' },
    currency: { type: 'text' },
    maxTicketsPerFan: { name: 'max_tickets_per_fan', type: 'integer' },
    queueRequired: { name: 'queue_required', type: 'boolean' },
    opensAt: { name: 'opens_at', type: 'timestamptz', nullable: true },
    saleStatus: { name: 'sale_status', type: 'text' },
    pauseReason: { name: 'pause_reason', type: 'text', nullable: true },
    cancelledAt: { name: 'cancelled_at', type: 'timestamptz', nullable: true },
    cancelReason: { name: 'cancel_reason', type: 'text', nullable: true },
    processingRate: { name: 'processing_rate', type: 'integer' },
    maxOpenWindows: { name: 'max_open_windows', type: 'integer' },
    createdAt: { name: 'created_at', type: 'timestamptz', default: () => 'now()' },
  },
});

/** A row of the table `sectors`. */
export interface SectorRow {
  id: string;
  matchId: string;
  name: string;
  kind: 'seated' | 'standing';
  gate: string | null;
  priceCents: number;
  capacity: number;
  position: number;
}

export const sectorTable = new EntitySchema<SectorRow>({
  name: 'sector',
  tableName: 'sectors',
  columns: {
    id: { type: 'uuid', primary: true },
    matchId: { name: 'match_id', type: 'uuid' },
    name: { type: 'text' },
    kind: { type: 'text' },
    gate: { type: 'text', nullable: true },
    priceCents: { name: 'price_cents', type: 'integer' },
    capacity: { type: 'integer' },
    position: { type: 'integer' },
  },
});
