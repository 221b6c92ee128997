import type { Type } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { callerOf } from './caller.ts';
import { parametersOf, type HandlerParameter } from './input-fields.ts';

type ReadArgument = (request: FastifyRequest, reply: FastifyReply) => unknown;
type Handler = (...args: readonly unknown[]) => Promise<unknown>;

/** A controller method that Fastify calls without Nest's router, because the router costs time under peak load. */
interface DirectHandler {
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

/**
 * Builds a direct handler from the metadata of Nest's decorators, so that the method is written like the handler of any other
 * route.
 */
export function directHandler(controller: Type, method: string, status: number | undefined): DirectHandler {
  const parameters = parametersOf(controller, method);
  const answersItself = parameters.some(({ kind }) => kind === String(RouteParamtypes.RESPONSE));
  if (!answersItself && status === undefined)
    throw new Error(
      `${controller.name}.${method} is called directly: it needs @Res() to answer with, or a status for its result.`,
    );
  return { controller, method, args: parameters.map(argumentReader), status: answersItself ? undefined : status };
}

/** Returns the function that reads a parameter. Our only custom decorator is `@Caller()`, so a custom kind means the caller. */
function argumentReader({ kind, part, name }: HandlerParameter): ReadArgument {
  if (kind === String(RouteParamtypes.REQUEST)) return (request) => request;
  if (kind === String(RouteParamtypes.RESPONSE)) return (_request, reply) => reply;
  if (!part && /^\d+$/.test(kind)) throw new Error(`a parameter of kind ${kind} cannot be read without Nest's router`);
  if (!part) return callerOf;
  if (name === undefined) return (request) => request[part];
  const member = part === 'headers' ? name.toLowerCase() : name;
  return (request) => (request[part] as Readonly<Record<string, unknown>>)[member];
}

/**
 * Lets Fastify call the handlers of routes with `direct: true`. Nest's router adds ten promises and ten closures between the last
 * hook and the method, about a fifth of the CPU cost of a hold. Nest's guards, interceptors and pipes do not run for these
 * routes; in this project hooks do their work for every route. Errors are answered like errors of hooks.
 */
export function callDirectly(app: NestFastifyApplication, fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route: RouteOptions) => {
    const direct = route.config?.handler;
    if (!direct) return;
    const { controller, method, args, status } = direct;
    let instance: Readonly<Record<string, Handler>> | undefined;
    route.handler = (request, reply) => {
      // The controller is looked up at the first request, because it may not exist yet when the route is registered.
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
