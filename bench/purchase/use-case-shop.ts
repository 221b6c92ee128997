import { nestLog } from '#platform/logging/logger';
import { NestFactory } from '@nestjs/core';
import { randomUUID } from 'node:crypto';
import { importCompiled, MONOLITH } from '../instruments/compiled.ts';
import { refusalOf } from './refusals.ts';
import { monolithConfig } from './settings.ts';
import { QUANTITY, type Shop, type ShopAddress, type Purchase } from './shop.ts';

/** Deadline of each call of the use case. It is longer than any call of the benchmark takes. */
const DEADLINE_MS = 55_000;

/**
 * The monolith with all its background work but without HTTP: callers inside the process call the use case. Each call has an
 * idempotency key, so that the same rows are written as for a request.
 */
export async function openUseCaseShop(address: ShopAddress): Promise<Shop> {
  const { openResources } = await importCompiled<typeof import('../../apps/monolith/src/resources.ts')>(`${MONOLITH}/resources`);
  const { AppModule } = await importCompiled<typeof import('../../apps/monolith/src/app.module.ts')>(`${MONOLITH}/app.module`);
  const { HoldSeats } = await importCompiled<typeof import('../../apps/monolith/src/purchase/hold/application/hold-seats.ts')>(
    `${MONOLITH}/purchase/hold/application/hold-seats`,
  );
  const resources = await openResources(await monolithConfig(address), 'monolith');
  const context = await NestFactory.createApplicationContext(AppModule.register(resources), {
    logger: nestLog(resources.logger),
    abortOnError: false,
  });
  const holdSeats = context.get(HoldSeats, { strict: false });
  return {
    buy: ({ matchId, sectorId }: Purchase) => {
      const userId = randomUUID();
      const key = randomUUID().replaceAll('-', '');
      const fan = { matchId, userId, sessionToken: undefined, deadlineAtMs: Date.now() + DEADLINE_MS };
      const idempotencyKey = { key, fingerprint: key };
      const command = { ...fan, sectorId, quantity: QUANTITY, idempotencyKey };
      return holdSeats.execute(command).then(() => undefined, refusalOf);
    },
    retries: async () => {
      const metric = await resources.metrics.registry.getSingleMetric('transaction_retries_total')?.get();
      return (metric?.values ?? []).reduce((sum, { value }) => sum + value, 0);
    },
    close: () => context.close(),
  };
}
