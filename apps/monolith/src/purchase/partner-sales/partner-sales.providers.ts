import { TransactionManager } from '#application/transaction-manager';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { useCase } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { REDIS } from '../../tokens.ts';
import { PartnerSalesApi } from '../partner-sales.api.ts';
import { BlockSoldElsewhere } from './application/block-sold-elsewhere.ts';
import { SeatHints, SeatsElsewhere } from './application/ports.ts';
import { LoadedPartnerSales } from './inbound/loaded-partner-sales.ts';
import { PostgresSeatsElsewhere } from './outbound/postgres-seats-elsewhere.ts';
import { RedisSeatHints } from './outbound/redis-seat-hints.ts';

/** Blocks seats that partners have sold. */
export const partnerSalesProviders: Provider[] = [
  { provide: SeatsElsewhere, useClass: PostgresSeatsElsewhere },
  { provide: SeatHints, useFactory: (redis: RedisConnection) => new RedisSeatHints(redis), inject: [REDIS] },
  useCase(BlockSoldElsewhere, TransactionManager, SeatsElsewhere, SeatHints),
  {
    provide: PartnerSalesApi,
    useFactory: (blockSoldElsewhere: BlockSoldElsewhere) => new LoadedPartnerSales(blockSoldElsewhere),
    inject: [BlockSoldElsewhere],
  },
];
