import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { Endpoint } from '#platform/http/endpoint';
import { RequestRefused } from '#platform/http/request-refused';
import { ApiExcludeEndpoint, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
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

const mailboxAnswer = z.object({
  items: z.array(
    z.object({
      channel: z.enum(['email', 'push']),
      to: z.string(),
      user_id: z.uuid().nullable(),
      template: z.string(),
      subject: z.string(),
      text: z.string(),
      sent_at: z.iso.datetime(),
    }),
  ),
});

@ApiTags('mailbox')
@Controller('mailbox')
export class MailboxController {
  constructor(private readonly mailbox: Mailbox) {}

  @Get()
  @Endpoint({ access: 'public' })
  @ApiOperation({ summary: 'What would have been sent, newest first, a hundred at most' })
  @ApiOkResponse({ standardSchema: mailboxAnswer })
  async list(@Query({ schema: mailboxQuery }) query: z.output<typeof mailboxQuery>): Promise<{ items: MailboxItem[] }> {
    return { items: await this.mailbox.find(query) };
  }

  /** `/mailbox/`: Nest drops the slash at the end of a path, hence the wildcard that takes nothing else. */
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
