import { Module, type DynamicModule } from '@nestjs/common';
import type { WorkerParts } from '../parts.ts';
import { Mailbox } from './mailbox.api.ts';
import { MailboxController } from './mailbox.controller.ts';
import { PostgresMailbox } from './postgres-mailbox.ts';

/** What providers would have been given; its pages exist only where a provider is the mailbox, elsewhere they are 404. */
@Module({})
export class MailboxModule {
  static register({ config, database }: Pick<WorkerParts, 'config' | 'database'>): DynamicModule {
    const inUse = [config.EMAIL_PROVIDER, config.PUSH_PROVIDER].includes('mailbox');
    return {
      module: MailboxModule,
      global: true,
      controllers: inUse ? [MailboxController] : [],
      providers: [{ provide: Mailbox, useFactory: () => new PostgresMailbox(database) }],
      exports: [Mailbox],
    };
  }
}
