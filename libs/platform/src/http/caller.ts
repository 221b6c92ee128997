import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

export interface CallerIdentity {
  readonly userId: string;
  readonly roles: readonly string[];
}

declare module 'fastify' {
  interface FastifyRequest {
    caller?: CallerIdentity;
  }
}

/** Who is calling, as the access hook found out. Only on routes that are not public. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  callerOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

export function callerOf({ caller }: FastifyRequest): CallerIdentity {
  if (!caller) throw new Error('@Caller() on a route without a caller');
  return caller;
}
