import { Controller, Get, Inject, Module, Res, type DynamicModule } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Endpoint } from '../http/endpoint.ts';
import { waitAtMost } from '../wait-at-most.ts';
import { Metrics } from './metrics.ts';

/**
 * A dependency of a service, such as PostgreSQL or Redis. If a `vital` dependency is down, the service is not ready (503); if one
 * that is not vital is down, the service is ready but reported as degraded.
 */
export interface ReadinessCheck {
  readonly name: string;
  readonly vital: boolean;
  /** Resolves if the dependency answers, and rejects otherwise. */
  readonly probe: () => Promise<unknown>;
}

const READINESS_CHECKS = Symbol('readiness checks');
const PROBE_TIMEOUT_MS = 2000;

async function isUp({ probe }: ReadinessCheck): Promise<boolean> {
  try {
    const isReady = probe().then(() => true);
    return await waitAtMost(PROBE_TIMEOUT_MS, isReady, false);
  } catch {
    return false;
  }
}

@ApiExcludeController()
@Controller()
class HealthController {
  constructor(
    @Inject(READINESS_CHECKS) private readonly checks: readonly ReadinessCheck[],
    private readonly metrics: Metrics,
  ) {}

  @Get('health/live')
  @Endpoint({ access: 'public', noAddressLimit: true })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('health/ready')
  @Endpoint({ access: 'public', noAddressLimit: true })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ status: string; down: string[] }> {
    const up = await Promise.all(this.checks.map(isUp));
    const down = this.checks.filter((_check, index) => !up[index]);
    const isDown = down.some(({ vital }) => vital);
    if (isDown) void reply.status(503);
    return { status: isDown ? 'down' : down.length > 0 ? 'degraded' : 'ok', down: down.map(({ name }) => name) };
  }

  @Get('metrics')
  @Endpoint({ access: 'public', noAddressLimit: true })
  async scrape(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    void reply.type(this.metrics.registry.contentType);
    return this.metrics.registry.metrics();
  }
}

/** The routes `/health/live`, `/health/ready` and `/metrics`, the same for every service. */
@Module({})
export class HealthModule {
  static register(options: { metrics: Metrics; ready: readonly ReadinessCheck[] }): DynamicModule {
    return {
      module: HealthModule,
      controllers: [HealthController],
      providers: [
        { provide: READINESS_CHECKS, useValue: options.ready },
        { provide: Metrics, useValue: options.metrics },
      ],
      exports: [Metrics],
    };
  }
}
