import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { rulesOf } from './route-rules.ts';
import { asValidationFailed } from './schema-issues.ts';

/** A handler parameter with a schema: `@Param('id', { schema })`, `@Body({ schema })`, `@Query({ schema })`. */
export interface InputField {
  readonly part: 'params' | 'body' | 'query';
  /** The member of the part; undefined for the whole part. */
  readonly name: string | undefined;
  readonly schema: z.ZodType;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly input?: readonly InputField[];
  }
}

const parts: Readonly<Record<string, InputField['part']>> = {
  [RouteParamtypes.PARAM]: 'params',
  [RouteParamtypes.BODY]: 'body',
  [RouteParamtypes.QUERY]: 'query',
};

interface NestParameter {
  readonly index: number;
  readonly data?: string;
  readonly schema?: z.ZodType;
}

/** The parameters of a handler that have a schema, in their order. */
export function inputOf(controller: object, method: string | symbol): InputField[] {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<string, NestParameter>;
  return Object.entries(parameters)
    .sort(([, a], [, b]) => a.index - b.index)
    .flatMap(([key, { data: name, schema }]) => {
      const part = parts[key.split(':')[0] ?? ''];
      return part && schema ? [{ part, name, schema }] : [];
    });
}

/**
 * Validates the input of each request with the schemas of its route and replaces it by the parsed values. This is the last check
 * before the handler. It is a hook and not a Nest pipe, because a pipe costs five promises for each parameter of the handler,
 * even for parameters without a schema.
 */
export function checkInput(fastify: FastifyInstance): void {
  fastify.addHook('preValidation', (request, _reply, done) => {
    const input: readonly InputField[] = rulesOf(request).input ?? [];
    for (const { part, name, schema } of input) {
      const whole = request[part] as Record<string, unknown>;
      const parsed = schema.safeParse(name === undefined ? whole : whole[name]);
      if (!parsed.success) return done(asValidationFailed(parsed.error.issues));
      if (name === undefined) request[part] = parsed.data;
      else whole[name] = parsed.data;
    }
    done();
  });
}
