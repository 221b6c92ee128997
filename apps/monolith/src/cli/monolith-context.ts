import { nestLog } from '#platform/logging/logger';
import type { Abstract, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.ts';
import type { MonolithConfig } from '../config.ts';
import { openResources } from '../resources.ts';
import { cliConfig } from './environment.ts';

/** Gives access to the monolith's use cases without HTTP and without background work. */
export async function withMonolithContext<T>(
  config: MonolithConfig,
  work: (context: INestApplicationContext) => Promise<T>,
): Promise<T> {
  const resources = await openResources(config, 'cli', 2);
  const context = await NestFactory.createApplicationContext(AppModule.register(resources, { backgroundWork: false }), {
    logger: nestLog(resources.logger),
    abortOnError: false,
  });
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}

/** Gives a command one API of a context of the monolith. */
export function withApi<Api, T>(type: Abstract<Api>, work: (api: Api) => Promise<T>): Promise<T> {
  return withMonolithContext(cliConfig(), (context) => work(context.get<Api>(type, { strict: false })));
}
