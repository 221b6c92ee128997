import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../logging/logger.ts';
import type { ErrorCode } from '#contracts/error-catalogue';
import { toProblem } from './problem.ts';

/** Answers every error of a handler as problem+json, with the status that the error catalogue gives. The cause is only logged. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    answerProblem(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>(), this.logger);
  }
}

/** Logs an error of the service (5xx) and sends the problem+json answer, unless an answer was sent already. */
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
    /** The error code with which this request was answered, for hooks that run while or after the answer is sent. */
    problemCode?: ErrorCode;
  }
}
