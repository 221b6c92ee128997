import { DomainError } from '#domain/shared/domain-error';
import { KeyAlreadyUsed, type IdempotencyKey } from '#application/idempotency-key';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { RequestRefused } from '../http/request-refused.ts';
import type { StoredAnswer } from '../logging/request-context.ts';
import { AnswerSeal } from './answer-seal.ts';
import { IdempotencyRows, type StoredRow } from './idempotency-rows.ts';

/** What a controller wants to answer: status, JSON body and the header `Location`. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly location?: string;
  /** The answer holds a secret: it is stored encrypted. */
  readonly isSecret?: true;
}

/** Sends the answer of a command that has an idempotency key: a repeated command gets the answer of the first command. */
@Injectable()
export class Answers {
  constructor(
    private readonly rows: IdempotencyRows,
    private readonly seal: AnswerSeal,
  ) {}

  /** Answers a command that runs in `TransactionManager.run`, which commits the rendered answer together with the effect. */
  async give<T>(reply: FastifyReply, command: () => Promise<T>, view: (result: T) => Answer): Promise<void> {
    const key = reply.request.currentKey?.requestKey;
    let rendered: { readonly stored: StoredAnswer; readonly plain: StoredAnswer } | undefined;
    if (key) {
      key.render = (result) => {
        const answer = view(result as T);
        const plain = toStored(answer);
        rendered = { stored: answer.isSecret ? this.seal.seal(plain) : plain, plain };
        return rendered.stored;
      };
    }
    try {
      const result = await command();
      const stored = key?.stored ?? toStored(view(result));
      send(reply, stored === rendered?.stored ? rendered.plain : this.seal.open(stored));
    } catch (error) {
      send(reply, this.seal.open(await this.firstAnswer(reply, error, ({ answer }) => answer)));
    }
  }

  /**
   * Answers a command that commits the key itself, with the id of the created object instead of an answer. A repeated command is
   * answered by reading that object as it was created (`find`) and rendering it.
   */
  async giveMade<T>(
    reply: FastifyReply,
    command: (key: IdempotencyKey | undefined) => Promise<T>,
    view: (result: T) => Answer,
    find: (madeId: string) => Promise<T>,
  ): Promise<void> {
    const key = reply.request.currentKey?.requestKey;
    try {
      const answer = toStored(view(await command(key)));
      if (key) key.stored = answer;
      send(reply, answer);
    } catch (error) {
      send(
        reply,
        await this.firstAnswer(reply, error, async ({ made, answer }) => (made ? toStored(view(await find(made))) : answer)),
      );
    }
  }

  /** Returns the answer of the first command with this key. Throws `error` when there is no such answer. */
  private async firstAnswer(
    reply: FastifyReply,
    error: unknown,
    answerOf: (first: StoredRow) => StoredAnswer | Promise<StoredAnswer>,
  ): Promise<StoredAnswer> {
    const key = reply.request.currentKey?.requestKey;
    const isUsed = error instanceof KeyAlreadyUsed;
    // A repeated command may be refused because of the effect of the first one: the ticket limit is reached, the hold is paid.
    const mayBeRepeat = isUsed || (error instanceof DomainError && reply.request.routeOptions.config.keyWithEffect);
    if (!key || !mayBeRepeat) throw error;
    const first = await this.rows.read(key.key);
    if (!first) throw isUsed ? new RequestRefused('IDEMPOTENCY_KEY_IN_USE', { cause: error }) : error;
    if (first.fingerprint !== key.fingerprint) throw new RequestRefused('IDEMPOTENCY_KEY_REUSED', { cause: error });
    key.stored = await answerOf(first);
    void reply.header('idempotency-replayed', 'true');
    return key.stored;
  }
}

function toStored({ status, body, location }: Answer): StoredAnswer {
  return { status, body: body === undefined ? '' : JSON.stringify(body), ...(location ? { location } : {}) };
}

/** Sends an answer in the form in which it is stored. */
export function send(reply: FastifyReply, { status, location, body }: StoredAnswer): void {
  void reply.status(status);
  if (location) void reply.header('location', location);
  if (body !== '') void reply.type(status >= 400 ? 'application/problem+json' : 'application/json; charset=utf-8');
  void reply.send(body);
}
