import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { mailboxAnswer, mailboxQuery, type MailboxItem } from '#contracts/mailbox';
import { Endpoint } from '#platform/http/endpoint';
import { RequestRefused } from '#platform/http/request-refused';
import { ApiExcludeEndpoint, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import type { WorkerConfig } from '../config.ts';
import { mailboxPage, mailboxPagePolicy, mailPolicy } from './mailbox-page.ts';
import { PostgresMailbox } from './postgres-mailbox.ts';

/** The id of a message: a bigint of PostgreSQL. 18 digits always fit. */
const messageId = /^\d{1,18}$/;

@ApiTags('mailbox')
@Controller('mailbox')
export class MailboxController {
  constructor(private readonly mailbox: PostgresMailbox) {}

  @Get()
  @Endpoint({ operationId: 'listMailbox', access: 'public' })
  @ApiOperation({
    summary: 'Messages that would have been sent, newest first, a hundred at most',
    description: 'Only where the mail or push provider is the mailbox.',
  })
  @ApiOkResponse({ standardSchema: mailboxAnswer })
  async list(@Query({ schema: mailboxQuery }) query: z.output<typeof mailboxQuery>): Promise<{ items: MailboxItem[] }> {
    const entries = await this.mailbox.find(query);
    return { items: entries.map(({ id: _id, hasHtml: _hasHtml, ...item }) => item) };
  }

  /** The HTML of a mail, in a sandbox. */
  @Get('html/:id')
  @Endpoint({ access: 'public' })
  @ApiExcludeEndpoint()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', mailPolicy)
  async html(@Param('id') id: string): Promise<string> {
    const html = messageId.test(id) ? await this.mailbox.html(id) : undefined;
    if (html === undefined) throw new RequestRefused('NOT_FOUND');
    return html;
  }

  /**
   * Serves `/mailbox/`. The path is a wildcard, because Nest removes a slash at the end of a path. Any path other than
   * `/mailbox/` is 404.
   */
  @Get('*')
  @Endpoint({ access: 'public' })
  @ApiExcludeEndpoint()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', mailboxPagePolicy)
  async page(@Param('*') rest: string, @Query({ schema: mailboxQuery }) query: z.output<typeof mailboxQuery>): Promise<string> {
    if (rest) throw new RequestRefused('NOT_FOUND');
    return mailboxPage(await this.mailbox.find(query), query);
  }
}

/** The pages of the mailbox exist only if the mail or push provider is the mailbox; otherwise they are 404. */
export function mailboxPages({
  EMAIL_PROVIDER,
  PUSH_PROVIDER,
}: Pick<WorkerConfig, 'EMAIL_PROVIDER' | 'PUSH_PROVIDER'>): (typeof MailboxController)[] {
  return [EMAIL_PROVIDER, PUSH_PROVIDER].includes('mailbox') ? [MailboxController] : [];
}
