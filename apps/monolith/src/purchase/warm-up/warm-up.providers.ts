import { Ids } from '#application/ids';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { useCase } from '#platform/use-case';
import { HttpAdapterHost } from '@nestjs/core';
import type { Logger } from '#platform/logging/logger';
import type { Provider } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BlacklistApi } from '../../blacklist/blacklist.api.ts';
import { CatalogApi } from '../../catalog/catalog.api.ts';
import type { MonolithConfig } from '../../config.ts';
import { CONFIG, LOGGER, REDIS, WARM_UP, type WarmUp } from '../../tokens.ts';
import { MatchesForSale } from '../application/sale-ports.ts';
import { OrderConsequences } from '../checkout/application/ports.ts';
import { SeatHolds } from '../hold/application/ports.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { SECTOR_SNAPSHOTS } from '../hold/outbound/sector-snapshot.ts';
import { PaymentInbox } from '../settlement/application/ports.ts';
import { RehearsalController } from './rehearsal.controller.ts';
import { RehearsedHolds } from './rehearsed-holds.ts';
import { RehearsedPurchases } from './rehearsed-purchases.ts';
import { RehearsedRequests } from './rehearsed-requests.ts';
import { SaleSectors } from './sale-sectors.ts';
import { WarmUpSchedule } from './warm-up.schedule.ts';

export const warmUpControllers = [RehearsalController];

/** Wires the feature `warm-up`: sectors, statements and code are ready before a sale opens. */
export const warmUpProviders: Provider[] = [
  useCase(RehearsedHolds, SeatHolds, SECTOR_SNAPSHOTS),
  useCase(SaleSectors, MatchesForSale, SECTOR_SNAPSHOTS),
  {
    provide: RehearsedPurchases,
    useFactory: (
      dataSource: DataSource,
      ...[reservations, catalog, matches, inbox, consequences, blacklist, ids]: [
        Reservations,
        CatalogApi,
        MatchesForSale,
        PaymentInbox,
        OrderConsequences,
        BlacklistApi,
        Ids,
      ]
    ) => new RehearsedPurchases(dataSource, { reservations, catalog, matches, inbox, consequences, blacklist, ids }),
    inject: [DataSource, Reservations, CatalogApi, MatchesForSale, PaymentInbox, OrderConsequences, BlacklistApi, Ids],
  },
  {
    provide: RehearsedRequests,
    useFactory: (http: HttpAdapterHost, redis: RedisConnection, config: MonolithConfig) =>
      new RehearsedRequests(http, redis, config.INTERNAL_AUTH_SECRET[0]),
    inject: [HttpAdapterHost, REDIS, CONFIG],
  },
  {
    provide: WarmUpSchedule,
    useFactory: (
      tasks: PeriodicTasks,
      warmUp: WarmUp,
      holds: RehearsedHolds,
      purchases: RehearsedPurchases,
      requests: RehearsedRequests,
      ...[catalog, sectors, logger]: [CatalogApi, SaleSectors, Logger]
    ) => new WarmUpSchedule(tasks, warmUp, { holds, purchases, requests }, catalog, sectors, logger),
    inject: [
      ...[PeriodicTasks, WARM_UP, RehearsedHolds, RehearsedPurchases, RehearsedRequests],
      ...[CatalogApi, SaleSectors, LOGGER],
    ],
  },
];
