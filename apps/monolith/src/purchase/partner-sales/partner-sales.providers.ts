import { TransactionManager } from '#application/transaction-manager';
import { adapter } from '#platform/use-case';
import type { Provider } from '@nestjs/common';
import { REDIS } from '../../tokens.ts';
import { PartnerSalesApi } from '../partner-sales.api.ts';
import { BlockPartnerSoldSeats } from './block-partner-sold-seats.ts';

/** Wires the feature `partner-sales`: seats that partners have sold are blocked. */
export const partnerSalesProviders: Provider[] = [adapter(PartnerSalesApi, BlockPartnerSoldSeats, TransactionManager, REDIS)];
