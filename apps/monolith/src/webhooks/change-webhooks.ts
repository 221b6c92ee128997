import { recordChange } from '#application/recorded-change';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { WebhookEventType } from '#contracts/webhook-events';
import { DomainError } from '#domain/shared/domain-error';
import { addressIn, isPublicAddress } from '#platform/http-client/public-addresses';
import { RequestRefused } from '#platform/http/request-refused';
import { randomBytes } from 'node:crypto';
import type { PostgresWebhooks, Webhook, WebhookDelivery } from './postgres-webhooks.ts';
import type { WantedEvents } from './wanted-events.ts';

/** Each event is sent to each webhook that wants it, so their number is limited. */
const MAX_WEBHOOKS = 20;

/** Adds and deletes webhooks, and sends deliveries again. */
export class ChangeWebhooks {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly webhooks: PostgresWebhooks,
    private readonly wanted: WantedEvents,
    private readonly options: { readonly publicOnly: boolean },
  ) {}

  async add(command: { url: string; events: readonly WebhookEventType[]; by: string }): Promise<Webhook> {
    if (this.options.publicOnly) mustBePublic(new URL(command.url));
    const added = await this.transactions.run(async (tx) => {
      if ((await this.webhooks.count(tx)) >= MAX_WEBHOOKS)
        throw new DomainError('INVALID_STATE', `There are ${MAX_WEBHOOKS} webhooks already. Delete one first.`);
      const secret = `whsec_${randomBytes(32).toString('base64url')}`;
      const webhook = await this.webhooks.add(tx, { ...command, secret });
      recordChange(tx, { target: { type: 'webhook', id: webhook.id }, before: null, after: fieldsOf(webhook) });
      return webhook;
    });
    await this.wanted.refresh();
    return added;
  }

  /** Deletes a webhook, which does nothing if there is none. */
  delete(id: string): Promise<void> {
    return this.transactions.run(async (tx) => {
      const deleted = await this.webhooks.delete(tx, id);
      recordChange(tx, { before: deleted ? fieldsOf(deleted) : null, after: null });
    });
  }

  sendAgain(webhookId: string, id: string): Promise<WebhookDelivery> {
    return this.transactions.run(async (tx: Transaction) => {
      const delivery = await this.webhooks.sendAgain(tx, webhookId, id);
      if (!delivery) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such delivery.' });
      recordChange(tx, { before: null, after: { delivery_id: id } });
      return delivery;
    });
  }
}

const fieldsOf = ({ url, events }: Webhook) => ({ url, events });

function mustBePublic({ protocol, hostname }: URL): void {
  const address = addressIn(hostname);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (protocol === 'https:' && !isLocal && (address === undefined || isPublicAddress(address))) return;
  const message = 'must be an https URL on a public address';
  throw new RequestRefused('VALIDATION_FAILED', { errors: [{ path: 'url', message }] });
}
