import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { CatalogMatch } from '#domain/catalog/match';
import type { PostgresQuotas } from '../tree/postgres-quotas.ts';
import type { Quota } from '../tree/quota.ts';
import { nameOf } from './invitation-messages.ts';

/** What the contact of a quota is told. */
interface Notice {
  readonly kind: 'week' | 'day' | 'returned';
  /** How many places return, or have returned. */
  readonly places: number;
}

/** Writes the mails to the contacts of quotas about the return of their places. They are sent only if the transaction commits. */
export class ReturnMails {
  constructor(
    private readonly quotas: PostgresQuotas,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** The quota must have a contact and a return. */
  async send(tx: Transaction, match: CatalogMatch, quota: Quota, { kind, places }: Notice): Promise<void> {
    const id = this.ids.next();
    const kickoff_at = match.kickoffAt.toISOString();
    const return_at = quota.returnAt!.toISOString();
    const [, parent] = quota.onReturn === 'parent' ? await this.quotas.chain(tx, quota.id) : [];
    const body = {
      job_id: id,
      created_at: this.clock.now().toISOString(),
      attempts: 0,
      max_attempts: 3,
      type: 'email',
      template: 'quota_return',
      payload: {
        match_name: nameOf(match),
        kickoff_at,
        venue: match.venue,
        // We do not know the language of a contact.
        locale: 'hr',
        quota_name: quota.name,
        notice: kind,
        return_at,
        places_count: places,
        on_return: quota.onReturn,
        ...(parent ? { parent_name: parent.name } : {}),
      },
      recipient: quota.contactEmail,
      // A notice of what will happen is dropped once it has happened.
      useful_until: kind === 'returned' ? kickoff_at : return_at,
      about: { match_id: match.id, quota_id: quota.id },
    };
    const event = kind === 'returned' ? 'quota.returned' : 'quota.return_due';
    await this.outbox.append(tx, [{ id, destination: 'email', event, body }]);
  }
}
