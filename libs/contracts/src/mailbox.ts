import { z } from 'zod';

/**
 * A filter of the mailbox: a text at most as long as a device token. An empty text means no filter, because a form sends empty
 * fields too. NUL is refused here, because PostgreSQL refuses it.
 */
const filterValue = z
  .string()
  .max(4096)
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .transform((text) => text.trim() || undefined)
  .optional();

export const mailboxQuery = z.object({ to: filterValue, template: filterValue });

export const mailboxAnswer = z.object({
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

/** A stored message in the JSON of `GET /mailbox`. */
export type MailboxItem = z.infer<typeof mailboxAnswer>['items'][number];
