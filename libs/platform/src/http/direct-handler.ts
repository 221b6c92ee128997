import type { Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from './caller.ts';

type ReadArgument = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** A controller method that Fastify calls without Nest's router, because the router costs time under peak load. */
export interface DirectHandler {
  readonly controller: Type;
  readonly method: string;
  /** Functions that read the arguments from the request, one for each parameter of the method. */
  readonly args: readonly ReadArgument[];
  /** The HTTP status of the answer. Undefined for a method with `@Res()`, which sends its answer itself. */
  readonly status: number | undefined;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly handler?: DirectHandler;
  }
}

interface NestParameter {
  readonly index: number;
  readonly data?: string;
}

const named =
  (part: 'params' | 'body' | 'query' | 'headers') =>
  ({ data }: NestParameter): ReadArgument => {
    if (data === undefined) return (request) => request[part];
    const name = part === 'headers' ? data.toLowerCase() : data;
    return (request) => (request[part] as Readonly<Record<string, unknown>>)[name];
  };

const readersByKind: Readonly<Record<string, (parameter: NestParameter) => ReadArgument>> = {
  [RouteParamtypes.PARAM]: named('params'),
  [RouteParamtypes.BODY]: named('body'),
  [RouteParamtypes.QUERY]: named('query'),
  [RouteParamtypes.HEADERS]: named('headers'),
  [RouteParamtypes.REQUEST]: () => (request) => request,
  [RouteParamtypes.RESPONSE]: () => (_request, reply) => reply,
};

/**
 * Returns the function that reads a parameter of this kind. Nest numbers the kinds of its own decorators (`@Body()`). The kind of a
 * custom decorator is a generated name; our only custom decorator is `@Caller()`, so each such name means the caller.
 */
function argumentReader(kind: string, parameter: NestParameter): ReadArgument {
  const known = readersByKind[kind];
  if (!known && /^\d+$/.test(kind)) throw new Error(`a parameter of kind ${kind} cannot be read without Nest's router`);
  return known ? known(parameter) : callerOf;
}

/**
 * Builds a direct handler from the metadata of Nest's decorators, so that the method is written like the handler of any other
 * route.
 */
export function directHandler(controller: Type, method: string, status: number | undefined): DirectHandler {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<string, NestParameter>;
  const known = Object.entries(parameters).map(([key, parameter]) => ({ kind: key.split(':')[0] ?? '', parameter }));
  const answersItself = known.some(({ kind }) => kind === String(RouteParamtypes.RESPONSE));
  if (!answersItself && status === undefined)
    throw new Error(
      `${controller.name}.${method} is called directly: it needs @Res() to answer with, or a status for its result.`,
    );
  const args = known
    .sort((a, b) => a.parameter.index - b.parameter.index)
    .map(({ kind, parameter }) => argumentReader(kind, parameter));
  return { controller, method, args, status: answersItself ? undefined : status };
}
