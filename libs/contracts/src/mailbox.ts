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

export const mailboxQuery = z.object({
  to: filterValue.meta({ description: 'Only messages to this e-mail address, fan (user id) or device token' }),
  template: filterValue.meta({ description: 'Only messages of this template' }),
});

export const mailboxAnswer = z.object({
  items: z
    .array(
      z.object({
        channel: z.enum(['email', 'push']).meta({ description: 'A mail or a push' }),
        to: z.string().meta({ description: 'E-mail address or device token of the receiver' }),
        user_id: z.uuid().nullable().meta({ description: 'Id of the fan. Null: the message does not say' }),
        template: z.string().meta({ description: 'Name of the template of the message' }),
        subject: z.string().meta({ description: 'Subject of the mail, or title of the push' }),
        text: z.string().meta({ description: 'Text of the message' }),
        attachments: z.array(z.string()).meta({ description: 'File names of the attachments' }),
        sent_at: z.iso.datetime().meta({ description: 'When the message would have been sent' }),
      }),
    )
    .meta({ description: 'The messages, newest first' }),
});

/** A stored message in the JSON of `GET /mailbox`. */
export type MailboxItem = z.infer<typeof mailboxAnswer>['items'][number];
