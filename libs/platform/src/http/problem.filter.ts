import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../logging/logger.ts';
import type { ErrorCode } from './error-catalogue.ts';
import { toProblem } from './problem.ts';

/** Answers every error as problem+json by the error catalogue. The cause is only logged. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    answerProblem(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>(), this.logger);
  }
}

export function answerProblem(error: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): void {
  const problem = toProblem(error, request.id);
  if (problem.status >= 500) {
    const level = problem.status === 500 ? 'error' : 'warn';
    logger[level]({ code: problem.code, method: request.method, route: request.routeOptions?.url, err: error }, 'request failed');
  }
  if (reply.sent || reply.raw.headersSent) return;
  request.problemCode = problem.code;
  void reply.status(problem.status).headers(problem.headers).type('application/problem+json').send(JSON.stringify(problem.body));
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The error code this request was answered with, for hooks that run with or after the answer. */
    problemCode?: ErrorCode;
  }
}
