import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { inputOf } from './checked-input.ts';
import { directHandler } from './direct-handler.ts';
import type { ErrorCode } from './error-catalogue.ts';

/** Who may call: everybody; a caller with an identity; one with a role; our own services. */
export type Access = 'public' | 'fan' | 'ops' | 'gate' | 'internal';

export interface EndpointRules {
  readonly access: Access;
  /** Status of a success; Nest's own default is 201 for every POST. */
  readonly status?: number;
  /** Every POST, PUT and PATCH of the monolith needs a key, except with a reason why not. */
  readonly noKeyBecause?: string;
  /**
   * The key is committed in the transaction of the effect, so that a repeat which Redis has forgotten fails on its row, and
   * only then the row is looked for (Answers): without it every request asks for a row that is not there.
   */
  readonly keyWithEffect?: true;
  /** Counts against the ten purchases a minute a fan has. */
  readonly fanLimit?: true;
  /** Not counted against the caller's address. */
  readonly noAddressLimit?: true;
  /** `none`: takes no body; `raw`: the handler wants the bytes as they came. */
  readonly body?: 'json' | 'none' | 'raw';
  /** Codes this call may be refused with by its own rules; the others follow from the rules above (documented-refusals.ts). */
  readonly refusals?: readonly ErrorCode[];
  /** Called without Nest's router in between (direct-handler.ts): for the few routes of the rush. */
  readonly direct?: true;
}

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<EndpointRules> {
    readonly idempotent?: boolean;
  }
}

/**
 * The rules of a route in one place, read by the hooks before any handler runs. A route without them does not start
 * (deny by default), so nothing is public by oversight.
 */
export function Endpoint(rules: EndpointRules): MethodDecorator {
  return (controller, method, descriptor) => {
    // Decorators of parameters have run before those of their method.
    const own = controller.constructor as Type;
    const handler = rules.direct && { handler: directHandler(own, String(method), rules.status) };
    const config = { ...rules, input: inputOf(own, method), ...handler };
    return applyDecorators(RouteConfig(config), ...(rules.status ? [HttpCode(rules.status)] : []))(
      controller,
      method,
      descriptor,
    );
  };
}
