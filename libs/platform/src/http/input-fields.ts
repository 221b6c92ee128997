import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { rulesOf } from './route-rules.ts';
import { asValidationFailed } from './schema-issues.ts';

/** The parts of a request that Nest's decorators can name. */
const parts = {
  [RouteParamtypes.PARAM]: 'params',
  [RouteParamtypes.BODY]: 'body',
  [RouteParamtypes.QUERY]: 'query',
  [RouteParamtypes.HEADERS]: 'headers',
} as const;
type Part = (typeof parts)[keyof typeof parts];

/** A parameter of a handler, as its decorator declares it. */
export interface HandlerParameter {
  /** Nest numbers the kinds of its own decorators. The kind of a custom decorator is a generated name. */
  readonly kind: string;
  /** For `@Param`, `@Body`, `@Query` and `@Headers`: the part of the request. */
  readonly part: Part | undefined;
  /** The name of the member of `part`, such as `id`; undefined for the whole of `part`. */
  readonly name: string | undefined;
  readonly schema: z.ZodType | undefined;
}

/** A parameter of a handler that has a schema: `@Param('id', { schema })`, `@Body({ schema })`, `@Query({ schema })`. */
type InputField = HandlerParameter & { readonly part: Exclude<Part, 'headers'>; readonly schema: z.ZodType };

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly input?: readonly InputField[];
  }
}

/** Returns the decorated parameters of a handler, in the order in which they are declared. */
export function parametersOf(controller: object, method: string | symbol): HandlerParameter[] {
  const declared = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Readonly<
    Record<string, { readonly index: number; readonly data?: string; readonly schema?: z.ZodType }>
  >;
  return Object.entries(declared)
    .sort(([, a], [, b]) => a.index - b.index)
    .map(([key, { data: name, schema }]) => {
      const kind = key.split(':')[0] ?? '';
      return { kind, part: (parts as Readonly<Record<string, Part>>)[kind], name, schema };
    });
}

/** Returns the parameters of a handler that have a schema, in the order in which they are declared. */
export function inputOf(controller: object, method: string | symbol): InputField[] {
  const hasSchema = ({ part, schema }: HandlerParameter): boolean => Boolean(part && part !== 'headers' && schema);
  return parametersOf(controller, method).filter((parameter): parameter is InputField => hasSchema(parameter));
}

/**
 * Validates the input of each request with the schemas of its route, and replaces the input by the parsed values. This is the
 * last check before the handler. It is a hook and not a Nest pipe, because a pipe costs five promises for each parameter of the
 * handler, even for parameters without a schema.
 */
export function checkInput(fastify: FastifyInstance): void {
  fastify.addHook('preValidation', (request, _reply, done) => {
    for (const { part, name, schema } of rulesOf(request).input ?? []) {
      const whole = request[part] as Record<string, unknown>;
      const parsed = schema.safeParse(name === undefined ? whole : whole[name]);
      if (!parsed.success) return done(asValidationFailed(parsed.error.issues));
      if (name === undefined) request[part] = parsed.data;
      else whole[name] = parsed.data;
    }
    done();
  });
}
