import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { inputOf } from './input-fields.ts';
import { directHandler } from './direct-handler.ts';
import type { ErrorCode } from './error-catalogue.ts';

/** Who may call a route: everybody, any identified fan, a caller with the role `ops` or `gate`, or only our own services. */
export type Access = 'public' | 'fan' | 'ops' | 'gate' | 'internal';

export interface EndpointRules {
  readonly access: Access;
  /** Status of a success. Without it Nest answers 201 to every POST. */
  readonly status?: number;
  /** The reason why this POST, PUT or PATCH needs no idempotency key. All others of the monolith need one. */
  readonly noKeyBecause?: string;
  /**
   * For hot routes whose transaction always writes the idempotency row. The row is not read before the handler. A repeated key that
   * Redis does not know fails on the row, and only then `Answers` reads it. So a first request costs no query.
   */
  readonly keyWithEffect?: true;
  /** Counts for the fan's limit of ten purchases a minute. */
  readonly fanLimit?: true;
  /** Does not count for the limit of the client's address. */
  readonly noAddressLimit?: true;
  /** `none`: the route takes no body. `raw`: the handler gets the unparsed bytes. */
  readonly body?: 'json' | 'none' | 'raw';
  /** Error codes of the route's own rules. All other codes follow from the settings above (documented-refusals.ts). */
  readonly refusals?: readonly ErrorCode[];
  /** Fastify calls the handler without Nest's router (direct-handler.ts). For the few routes that have peak load. */
  readonly direct?: true;
}

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<EndpointRules> {
    readonly idempotent?: boolean;
  }
}

/**
 * Declares the rules of a route. The hooks apply them before the handler runs. If a route has no rules, the service does not
 * start (deny by default), so no route is public by mistake.
 */
export function Endpoint(rules: EndpointRules): MethodDecorator {
  return (controller, method, descriptor) => {
    // The decorators of the parameters have run before this one, so their metadata exists.
    const controllerClass = controller.constructor as Type;
    const handler = rules.direct && { handler: directHandler(controllerClass, String(method), rules.status) };
    const config = { ...rules, input: inputOf(controllerClass, method), ...handler };
    return applyDecorators(RouteConfig(config), ...(rules.status ? [HttpCode(rules.status)] : []))(
      controller,
      method,
      descriptor,
    );
  };
}
