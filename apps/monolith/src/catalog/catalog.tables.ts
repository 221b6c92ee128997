import type { CatalogMatch, CatalogSector } from '#domain/catalog/match';
import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';

/** Every field of the row must have a column. */
type Columns<Row> = Record<keyof Row, EntitySchemaColumnOptions>;

/** A row of the table `matches`. */
export type MatchRow = CatalogMatch & { readonly createdAt: Date };

const matchColumns: Columns<MatchRow> = {
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
  transfers: { type: 'text', default: 'allowed' },
  processingRate: { name: 'processing_rate', type: 'integer' },
  maxOpenWindows: { name: 'max_open_windows', type: 'integer' },
  createdAt: { name: 'created_at', type: 'timestamptz', default: () => 'now()' },
};

export const matchTable = new EntitySchema<MatchRow>({ name: 'match', tableName: 'matches', columns: matchColumns });

/** A row of the table `sectors`. `position` is the order of the sectors of a match. */
type SectorRow = CatalogSector & { readonly position: number };

const sectorColumns: Columns<SectorRow> = {
  id: { type: 'uuid', primary: true },
  matchId: { name: 'match_id', type: 'uuid' },
  name: { type: 'text' },
  kind: { type: 'text' },
  gate: { type: 'text', nullable: true },
  wheelchair: { type: 'boolean' },
  priceCents: { name: 'price_cents', type: 'integer' },
  capacity: { type: 'integer' },
  position: { type: 'integer' },
};

export const sectorTable = new EntitySchema<SectorRow>({ name: 'sector', tableName: 'sectors', columns: sectorColumns });
