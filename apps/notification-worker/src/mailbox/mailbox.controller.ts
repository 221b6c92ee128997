import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { Endpoint } from '#platform/http/endpoint';
import { RequestRefused } from '#platform/http/request-refused';
import { z } from 'zod';
import { mailboxPage, mailboxPagePolicy } from './mailbox-page.ts';
import { Mailbox, type MailboxItem } from './mailbox.api.ts';

/** As long as a device token may be; a form sends its empty fields too; PostgreSQL stores no NUL. */
const wanted = z
  .string()
  .max(4096)
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .transform((text) => text.trim() || undefined)
  .optional();
const mailboxQuery = z.object({ to: wanted, template: wanted });

@Controller('mailbox')
export class MailboxController {
  constructor(private readonly mailbox: Mailbox) {}

  @Get()
  @Endpoint({ access: 'public' })
  async list(@Query({ schema: mailboxQuery }) query: z.output<typeof mailboxQuery>): Promise<{ items: MailboxItem[] }> {
    return { items: await this.mailbox.find(query) };
  }

  /** `/mailbox/`: Nest drops the slash at the end of a path, hence the wildcard that takes nothing else. */
  @Get('*')
  @Endpoint({ access: 'public' })
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', mailboxPagePolicy)
  async page(@Param('*') rest: string, @Query({ schema: mailboxQuery }) query: z.output<typeof mailboxQuery>): Promise<string> {
    if (rest) throw new RequestRefused('NOT_FOUND');
    return mailboxPage(await this.mailbox.find(query), query);
  }
}
