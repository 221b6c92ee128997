import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { inputOf } from './input-fields.ts';
import { directHandler } from './direct-handler.ts';
import type { ErrorCode } from '#contracts/error-catalogue';
import type { StaffAccess } from '#contracts/roles';

/**
 * Who may call a route: everybody, any identified fan, only our own services, or people with a role. `libs/contracts/src/roles.ts`
 * says which roles have which access.
 */
export type Access = 'public' | 'fan' | 'internal' | StaffAccess;

/** What a route declares about itself: who may call it, which checks apply, and how it is answered. */
export interface EndpointRules {
  /**
   * The name of the operation in the API description: a verb and its object, such as `listMatches`. The methods of generated clients
   * have these names, so an id never changes. Every documented route needs one (tests/reference).
   */
  readonly operationId?: string;
  readonly access: Access;
  /** HTTP status of a success. Without this rule Nest answers 201 to every POST. */
  readonly status?: number;
  /** The reason why this POST, PUT or PATCH needs no idempotency key. All other writes of the monolith need a key. */
  readonly noKeyBecause?: string;
  /**
   * For hot routes whose transaction always writes the idempotency row (table `idempotency_keys`). The idempotency hook
   * does not read that row before the handler, so the first request with a key costs no query. If a key was used and Redis does
   * not know it, the insert of the row fails, and then `Answers` (answers.ts) reads the row.
   */
  readonly keyWithEffect?: true;
  /**
   * The audit log records the call (audit-hook.ts): a write of operators and partners, or a read of personal data. The type of the
   * object in the path.
   */
  readonly audited?: 'match' | 'order' | 'fan' | 'job' | 'quota' | 'move' | 'invitation' | 'audit' | 'webhook';
  /** The reason why this write of operators or partners is not in the audit log. */
  readonly notAuditedBecause?: string;
  /** Each call counts for the fan's limit of ten purchases a minute. */
  readonly fanLimit?: true;
  /** Each call counts for the fan's limit of thirty other writes a minute. */
  readonly writeLimit?: true;
  /** A file or page: an address may read ten times as many of them, counted apart from its other calls. */
  readonly isStatic?: true;
  /** Calls do not count for the rate limit of the client's address. */
  readonly noAddressLimit?: true;
  /** Successes are measured but not logged: for calls that only our own services make, again and again. */
  readonly unlogged?: true;
  /** The route takes lists of places or people: bodies up to 2 MB. */
  readonly takesLists?: true;
  /**
   * The route also takes `text/csv`, and its handler gets a `CsvBody` for it. Description and example are for the API
   * description. Settings of the list are query parameters, so the idempotency key also compares the query.
   */
  readonly csv?: { readonly description: string; readonly example: string };
  /** What the handler gets. `none`: the route takes no body. `raw`: the unparsed bytes. Without this rule: parsed JSON. */
  readonly body?: 'json' | 'none' | 'raw';
  /**
   * Error codes that only this route has, for the API description. All other codes follow from the rules above
   * (documented-refusals.ts).
   */
  readonly refusals?: readonly ErrorCode[];
  /** Fastify calls the handler without Nest's router (direct-handler.ts). For the few routes that have peak load. */
  readonly direct?: true;
}

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<EndpointRules> {
    readonly idempotent?: boolean;
  }
}

/** True if requests of the route must have an idempotency key. */
export function mustHaveKey(method: string, { access, noKeyBecause }: Partial<EndpointRules>): boolean {
  return ['POST', 'PUT', 'PATCH'].includes(method) && !noKeyBecause && access !== undefined && access !== 'internal';
}

/**
 * Declares the rules of a route. The hooks apply them before the handler runs. If a route has no rules, the service does not
 * start (deny by default), so no route is public by mistake.
 */
export function Endpoint(rules: EndpointRules): MethodDecorator {
  return (controller, method, descriptor) => {
    // Parameter decorators run before a method decorator like this, so their metadata exists.
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
