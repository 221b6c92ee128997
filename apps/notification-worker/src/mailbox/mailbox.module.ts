import { Module, type DynamicModule } from '@nestjs/common';
import type { WorkerParts } from '../parts.ts';
import { Mailbox } from './mailbox.api.ts';
import { MailboxController } from './mailbox.controller.ts';
import { PostgresMailbox } from './postgres-mailbox.ts';

/**
 * The mailbox: messages that are stored instead of sent. Its pages exist only if the mail or push provider is the mailbox;
 * otherwise they are 404.
 */
@Module({})
export class MailboxModule {
  static register({ config, database }: Pick<WorkerParts, 'config' | 'database'>): DynamicModule {
    const isInUse = [config.EMAIL_PROVIDER, config.PUSH_PROVIDER].includes('mailbox');
    return {
      module: MailboxModule,
      global: true,
      controllers: isInUse ? [MailboxController] : [],
      providers: [{ provide: Mailbox, useFactory: () => new PostgresMailbox(database) }],
      exports: [Mailbox],
    };
  }
}
