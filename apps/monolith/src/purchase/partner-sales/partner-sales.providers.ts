import { TransactionManager } from '#application/transaction-manager';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { REDIS } from '../../tokens.ts';
import { PartnerSalesApi } from '../partner-sales.api.ts';
import { BlockPartnerSoldSeats } from './application/block-partner-sold-seats.ts';
import { SeatHints, PartnerSoldSeats } from './application/ports.ts';
import { LoadedPartnerSales } from './inbound/loaded-partner-sales.ts';
import { PostgresPartnerSoldSeats } from './outbound/postgres-partner-sold-seats.ts';
import { RedisSeatHints } from './outbound/redis-seat-hints.ts';

/** Wires the feature `partner-sales`: seats that partners have sold are blocked. */
export const partnerSalesProviders: Provider[] = [
  { provide: PartnerSoldSeats, useClass: PostgresPartnerSoldSeats },
  { provide: SeatHints, useFactory: (redis: RedisConnection) => new RedisSeatHints(redis), inject: [REDIS] },
  useCase(BlockPartnerSoldSeats, TransactionManager, PartnerSoldSeats, SeatHints),
  {
    provide: PartnerSalesApi,
    useFactory: (blockPartnerSoldSeats: BlockPartnerSoldSeats) => new LoadedPartnerSales(blockPartnerSoldSeats),
    inject: [BlockPartnerSoldSeats],
  },
];
