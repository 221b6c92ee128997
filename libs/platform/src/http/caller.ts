import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** The user who sends a request, and the roles of that user (contracts/roles.ts). */
export interface CallerIdentity {
  readonly userId: string;
  readonly roles: readonly string[];
}

declare module 'fastify' {
  interface FastifyRequest {
    caller?: CallerIdentity;
  }
}

/**
 * Parameter decorator of controller methods: the caller that the access hook has identified. Only for routes that need a caller.
 */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  callerOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** Returns the caller that the access hook has identified. */
export function callerOf({ caller }: FastifyRequest): CallerIdentity {
  if (!caller) throw new Error('@Caller() on a route without a caller');
  return caller;
}
