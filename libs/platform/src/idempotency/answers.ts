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
 * Runs a command for a controller and sends the answer. The controller passes `view`, which renders the answer from the result,
 * before the command runs. So the transaction manager can commit the answer together with the effect.
 */
@Injectable()
export class Answers {
  constructor(private readonly rows: IdempotencyRows) {}

  /**
   * A repeated key gets the stored answer of its first use. For commands whose row stores an id (`made`) instead of the answer,
   * `readAgain` reads the first result by that id, as it was then.
   */
  async give<T>(
    reply: FastifyReply,
    command: () => Promise<T>,
    view: (result: T) => Answer,
    readAgain?: (made: string) => Promise<T>,
  ): Promise<void> {
    const idempotencyKey = requestContext.current()?.fence;
    if (idempotencyKey) idempotencyKey.render = (result) => toStored(view(result as T));
    try {
      const result = await command();
      send(reply, idempotencyKey?.stored ?? toStored(view(result)));
    } catch (error) {
      const isUsed = error instanceof KeyAlreadyUsed;
      // The first use of the key may have caused this refusal: it has reached the limit, or its hold is paid by now.
      if (!idempotencyKey || !(isUsed || (error instanceof DomainError && rulesOf(reply.request).keyWithEffect))) throw error;
      const first = await this.rows.read(idempotencyKey.key);
      if (!first) throw isUsed ? new RequestRefused('IDEMPOTENCY_KEY_IN_USE', { cause: error }) : error;
      if (first.fingerprint !== idempotencyKey.fingerprint) throw new RequestRefused('IDEMPOTENCY_KEY_REUSED', { cause: error });
      idempotencyKey.stored = first.made && readAgain ? toStored(view(await readAgain(first.made))) : first.answer;
      send(reply.header('idempotency-replayed', 'true'), idempotencyKey.stored);
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
