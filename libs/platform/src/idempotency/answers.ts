import { DomainError } from '#domain/shared/domain-error';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { rulesOf } from '../http/route-rules.ts';
import { RequestRefused } from '../http/request-refused.ts';
import { requestContext, type StoredAnswer } from '../logging/request-context.ts';
import { KeyAlreadyUsed } from '../postgres/idempotency-row.ts';
import { IdempotencyRows } from './idempotency-rows.ts';

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly location?: string;
}

/**
 * How a controller answers a command: it says, before the command runs, what its result will look like to the caller, so
 * that the transaction manager can commit the answer together with the effect.
 */
@Injectable()
export class Answers {
  constructor(private readonly rows: IdempotencyRows) {}

  /** `again` finds what an earlier use of the key made, as it was then, where the answer is not kept but told again. */
  async give<T>(
    reply: FastifyReply,
    command: () => Promise<T>,
    view: (result: T) => Answer,
    again?: (made: string) => Promise<T>,
  ): Promise<void> {
    const fence = requestContext.current()?.fence;
    if (fence) fence.render = (result) => toStored(view(result as T));
    try {
      const result = await command();
      send(reply, fence?.stored ?? toStored(view(result)));
    } catch (error) {
      const isUsed = error instanceof KeyAlreadyUsed;
      // A refusal may be what the first use has brought about: the limit is reached, the hold is paid.
      if (!fence || !(isUsed || (error instanceof DomainError && rulesOf(reply.request).keyWithEffect))) throw error;
      const first = await this.rows.read(fence.key);
      if (!first) throw isUsed ? new RequestRefused('IDEMPOTENCY_KEY_IN_USE', { cause: error }) : error;
      if (first.fingerprint !== fence.fingerprint) throw new RequestRefused('IDEMPOTENCY_KEY_REUSED', { cause: error });
      fence.stored = first.made && again ? toStored(view(await again(first.made))) : first.answer;
      send(reply.header('idempotency-replayed', 'true'), fence.stored);
    }
  }
}

function toStored({ status, body, location }: Answer): StoredAnswer {
  return { status, body: body === undefined ? '' : JSON.stringify(body), ...(location ? { location } : {}) };
}

function send(reply: FastifyReply, answer: StoredAnswer): void {
  void reply.status(answer.status);
  if (answer.location) void reply.header('location', answer.location);
  if (answer.body !== '') void reply.type('application/json; charset=utf-8');
  void reply.send(answer.body);
}
