import type { Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { callerOf } from './caller.ts';

type Argument = (request: FastifyRequest, reply: FastifyReply) => unknown;
type Handler = (...args: readonly unknown[]) => Promise<unknown>;

/** A method, where its arguments come from, and what becomes of its result. */
export interface DirectHandler {
  readonly controller: Type;
  readonly method: string;
  readonly args: readonly Argument[];
  /** Of a result that is the answer; a method with `@Res()` answers by itself. */
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
  ({ data }: NestParameter): Argument => {
    if (data === undefined) return (request) => request[part];
    const name = part === 'headers' ? data.toLowerCase() : data;
    return (request) => (request[part] as Readonly<Record<string, unknown>>)[name];
  };

const argumentOf: Readonly<Record<string, (parameter: NestParameter) => Argument>> = {
  [RouteParamtypes.PARAM]: named('params'),
  [RouteParamtypes.BODY]: named('body'),
  [RouteParamtypes.QUERY]: named('query'),
  [RouteParamtypes.HEADERS]: named('headers'),
  [RouteParamtypes.REQUEST]: () => (request) => request,
  [RouteParamtypes.RESPONSE]: () => (_request, reply) => reply,
};

/** Nest's own kinds are numbers. A decorator of ours has a made-up name, and `@Caller()` is the only one. */
function argument(kind: string, parameter: NestParameter): Argument {
  const known = argumentOf[kind];
  if (!known && /^\d+$/.test(kind)) throw new Error(`a parameter of kind ${kind} cannot be read without Nest's router`);
  return known ? known(parameter) : callerOf;
}

/** Read from what Nest's decorators wrote down, so that the method looks like any other. */
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
    .map(({ kind, parameter }) => argument(kind, parameter));
  return { controller, method, args, status: answersItself ? undefined : status };
}

/**
 * Fastify calls these methods itself: Nest's router is ten promises and as many closures between the last hook and the method,
 * about a fifth of what a hold costs the service. Guards, interceptors and pipes do not see them; here these are hooks for every
 * route. What they throw goes the way of what hooks throw.
 */
export function callDirectly(app: NestFastifyApplication, fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route: RouteOptions) => {
    const direct = route.config?.handler;
    if (!direct) return;
    const { controller, method, args, status } = direct;
    let instance: Readonly<Record<string, Handler>> | undefined;
    route.handler = (request, reply) => {
      // Made by the time somebody asks, and hardly when its route is.
      instance ??= app.get<Record<string, Handler>>(controller, { strict: false });
      const refuse = (error: unknown): void => void reply.send(error);
      const answer = status === undefined ? undefined : (result: unknown): void => void reply.status(status).send(result);
      try {
        instance[method]!(...args.map((read) => read(request, reply))).then(answer, refuse);
      } catch (error) {
        refuse(error);
      }
    };
  });
}
