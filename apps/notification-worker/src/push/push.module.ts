import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { CLAIM_LOCK_MS } from '#messaging/sending/call-timeout';
import { Module, type DynamicModule } from '@nestjs/common';
import { processorOptions, type WorkerParts } from '../parts.ts';
import type { Pushes } from './application/ports.ts';
import { PushProcessor } from './inbound/push.processor.ts';
import { PostgresBroadcasts } from './outbound/postgres-broadcasts.ts';
import { Fcm } from './outbound/fcm.ts';
import { MailboxPushes } from './outbound/mailbox-pushes.ts';
import { NoPushes } from './outbound/no-pushes.ts';
import { ProviderPushes } from './outbound/provider-pushes.ts';
import { PushLedger } from './outbound/push-ledger.ts';

/**
 * How many pushes of each queue are processed at the same time. Each push uses one of the 24 database connections of the pool
 * while its job is claimed or its progress is recorded.
 */
const PUSH_CONCURRENCY = {
  mailbox: { 'push-priority': 4, push: 4 },
  fcm: { 'push-priority': 10, push: 6 },
  none: { 'push-priority': 1, push: 1 },
};

/** Everything that processes the queues `push` and `push-priority`, from the job to the provider. */
@Module({})
export class PushModule {
  static register(parts: WorkerParts): DynamicModule {
    const useFactory = (): PushProcessor => {
      const broadcasts = new PostgresBroadcasts(parts.database);
      broadcasts.observe(parts.metrics.registry);
      const options = processorOptions(parts, 'push', ['push', 'push-priority']);
      return new PushProcessor(pushesOf(parts), broadcasts, PUSH_CONCURRENCY[parts.config.PUSH_PROVIDER], options);
    };
    return { module: PushModule, providers: [{ provide: PushProcessor, useFactory }], exports: [PushProcessor] };
  }
}

function pushesOf(parts: WorkerParts): Pushes {
  const {
    config,
    inbox,
    mailbox,
    statements,
    transactions,
    marks,
    possibleDuplicates,
    serviceAccount: account,
    limiters,
  } = parts;
  if (config.PUSH_PROVIDER === 'none') return new NoPushes();
  if (config.PUSH_PROVIDER === 'mailbox' || !account) return new MailboxPushes(inbox, mailbox);
  const ledger = new PushLedger(statements, transactions, new PostgresOutbox(), {
    lockMs: CLAIM_LOCK_MS,
    marks,
    possibleDuplicates,
  });
  return new ProviderPushes(new Fcm({ base: config.FCM_API_BASE, account }), ledger, limiters.push);
}
