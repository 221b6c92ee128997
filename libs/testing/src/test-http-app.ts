import { createHttpApp, type HttpAppOptions } from '#platform/http/http-app';
import { identifyMock } from '#platform/http/identity';
import { createLogger } from '#platform/logging/logger';
import type { DynamicModule, Provider, Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** The secret of internal calls in an app of `createTestHttpApp`. */
export const INTERNAL_SECRET = 'internal-secret-of-the-tests-00000000';
/** A logger for tests that writes nothing. */
export const silentLogger = createLogger({ service: 'test', level: 'silent' });

/** Creates an app with the given controllers behind the real HTTP pipeline, ready for `app.inject`. The caller closes it. */
export async function createTestHttpApp(
  parts: { controllers: Type[]; providers?: Provider[]; imports?: DynamicModule[] },
  options: Partial<HttpAppOptions> = {},
): Promise<NestFastifyApplication> {
  const app = await createHttpApp(
    { module: class TestModule {}, ...parts },
    {
      logger: silentLogger,
      identify: identifyMock,
      internalSecrets: [INTERNAL_SECRET],
      trustedProxies: [],
      isAllowedOrigin: () => false,
      requestDeadlineMs: 20_000,
      logReadsEvery: 1,
      ...options,
    },
  );
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return app;
}
