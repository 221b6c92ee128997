import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { z } from 'zod';

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
