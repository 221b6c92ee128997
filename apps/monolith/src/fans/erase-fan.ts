import { Ids } from '#application/ids';
import { TransactionManager, type Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import { inside } from '#platform/postgres/transaction';
import { Inject, Injectable } from '@nestjs/common';
import type { MonolithConfig } from '../config.ts';
import { CONFIG } from '../tokens.ts';
import { type AskingFan, ErasableWithFans, type TracesOfFan } from './kept-about-fans.api.ts';

/**
 * Erases what is kept about a fan. Orders and tickets stay for accounting, without names and addresses. What this cannot reach is left to
 * the retention job: events of other systems, which the services may not change, jobs, and stored answers. It finds them by the traces
 * that are stored here (docs/concepts/privacy.md).
 */
@Injectable()
export class EraseFan {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly erasable: ErasableWithFans,
    private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Pick<MonolithConfig, 'AUTH_MODE'>,
  ) {
    erasable.add({ erase: eraseContact });
  }

  /** A repeated call erases what has come since. */
  async execute(fan: AskingFan): Promise<void> {
    // Read before anything is ended, so that a fan who is refused keeps the holds.
    await this.transactions.runStep((tx) => this.assertErasable(tx, fan.userId));
    for (const { end } of this.erasable.all) await end?.(fan);
    await this.transactions.run(async (tx) => {
      await this.assertErasable(tx, fan.userId);
      const traces: (Partial<TracesOfFan> | undefined)[] = [];
      for (const { erase } of this.erasable.all) traces.push(await erase?.(tx, fan.userId));
      await this.store(tx, fan, traces);
    });
  }

  private async assertErasable(tx: Transaction, userId: string): Promise<void> {
    for (const { hindrance } of this.erasable.all) {
      const why = await hindrance?.(tx, userId);
      if (why) throw new DomainError('INVALID_STATE', why);
    }
  }

  private async store(tx: Transaction, fan: AskingFan, found: readonly (Partial<TracesOfFan> | undefined)[]): Promise<void> {
    const all = (kind: keyof TracesOfFan): string[] => found.flatMap((traces) => traces?.[kind] ?? []);
    // Anybody can write the address of somebody else into a profile or an order, and would erase the messages to that person. With
    // AUTH_MODE=mock nothing is verified.
    const own = this.config.AUTH_MODE === 'jwt' ? [fan.verifiedEmail ?? ''] : all('emails');
    const emails = own.map((email) => email.toLowerCase()).filter((email) => email !== '');
    const traces: TracesOfFan = {
      emails: [...new Set(emails)],
      ids: all('ids'),
      pushTokens: all('pushTokens'),
      codeParts: all('codeParts'),
    };
    await inside(tx).rows('insert into erasures (id, user_id, traces) values ($1, $2, $3)', [
      this.ids.next(),
      fan.userId,
      JSON.stringify(traces),
    ]);
  }
}

/** Erases the profile and the devices. */
async function eraseContact(tx: Transaction, userId: string): Promise<Partial<TracesOfFan>> {
  const profiles = await inside(tx).rows<{ email: string | null }>('delete from fans where user_id = $1 returning email', [
    userId,
  ]);
  const devices = await inside(tx).rows<{ token: string }>(
    'delete from devices where user_id = $1 returning fcm_token as token',
    [userId],
  );
  return { emails: profiles.flatMap(({ email }) => email ?? []), pushTokens: devices.map(({ token }) => token) };
}
