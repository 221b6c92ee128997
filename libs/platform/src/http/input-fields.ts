import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { z } from 'zod';

/** A parameter of a handler that has a schema: `@Param('id', { schema })`, `@Body({ schema })`, `@Query({ schema })`. */
export interface InputField {
  readonly part: 'params' | 'body' | 'query';
  /** The name of the member that is checked, such as `id`; undefined for the whole of `part`. */
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

/** Returns the parameters of a handler that have a schema, in the order in which they are declared. */
export function inputOf(controller: object, method: string | symbol): InputField[] {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<string, NestParameter>;
  return Object.entries(parameters)
    .sort(([, a], [, b]) => a.index - b.index)
    .flatMap(([key, { data: name, schema }]) => {
      const part = parts[key.split(':')[0] ?? ''];
      return part && schema ? [{ part, name, schema }] : [];
    });
}
