import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { rulesOf } from './route-rules.ts';
import { asValidationFailed } from './schema-issues.ts';

/** A parameter of a handler that says with a schema what it wants: `@Param('id', { schema })`, `@Body({ schema })`, `@Query({ schema })`. */
export interface InputField {
  readonly part: 'params' | 'body' | 'query';
  /** One member of it; without a name all of it. */
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

/** The fields of a handler, in the order of its parameters. */
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
 * Reads the fields of a request as its route's schemas say; what the handler is given is what they made of it. The last check
 * before the handler. A hook and not Nest's pipe, which goes through five promises for each parameter of the handler, those
 * without a schema included.
 */
export function checkInput(fastify: FastifyInstance): void {
  fastify.addHook('preValidation', (request, _reply, done) => {
    const input: readonly InputField[] = rulesOf(request).input ?? [];
    for (const { part, name, schema } of input) {
      const whole = request[part] as Record<string, unknown>;
      const read = schema.safeParse(name === undefined ? whole : whole[name]);
      if (!read.success) return done(asValidationFailed(read.error.issues));
      if (name === undefined) request[part] = read.data;
      else whole[name] = read.data;
    }
    done();
  });
}
