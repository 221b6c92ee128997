import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { Endpoint } from '#platform/http/endpoint';
import { RequestRefused } from '#platform/http/request-refused';
import { ApiExcludeEndpoint, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { mailboxPage, mailboxPagePolicy, mailPolicy } from './mailbox-page.ts';
import { Mailbox, type MailboxItem } from './mailbox.api.ts';

/** As long as a device token may be; a form sends its empty fields too; PostgreSQL stores no NUL. */
const wanted = z
  .string()
  .max(4096)
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .transform((text) => text.trim() || undefined)
  .optional();
/** A bigint of PostgreSQL, and no more digits than one has. */
const messageId = /^\d{1,18}$/;
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
      attachments: z.array(z.string()),
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
    const entries = await this.mailbox.find(query);
    return { items: entries.map(({ id: _id, hasHtml: _hasHtml, ...item }) => item) };
  }

  /** A mail as mail programs show it, in a sandbox of its own. */
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
