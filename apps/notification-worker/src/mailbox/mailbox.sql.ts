import { namedSql } from '#platform/postgres/named-sql';

/** Adds messages to the mailbox. `messages` is a JSON array of MailboxMessage. */
export const ADD_MESSAGES = namedSql<{ readonly messages: string }>(
  'add-mailbox-messages',
  `
  insert into mailbox_messages (channel, recipient, user_id, template, subject, text, html, attachments)
  select channel, recipient, "userId", template, subject, text, html, coalesce(attachments, '{}')
  from jsonb_to_recordset(:messages::jsonb)
    as message (channel text, recipient text, "userId" uuid, template text, subject text, text text, html text, attachments text[])`,
);

interface MessageFilter {
  /** The recipient: an email address, a device or the id of a fan. */
  readonly to: string | null;
  /** The value of `to` if it is an id, otherwise null. */
  readonly userId: string | null;
  readonly template: string | null;
  readonly limit: number;
}

/** Finds messages in the mailbox, newest first. A filter that is null matches every message. */
export const FIND_MESSAGES = namedSql<MessageFilter>(
  'find-mailbox-messages',
  `
  select id::text, html is not null as "hasHtml", channel, recipient as "to", user_id, template, subject, text, attachments, sent_at
  from mailbox_messages
  where (:to::text is null or recipient = :to or user_id = :userId::uuid) and (:template::text is null or template = :template)
  order by mailbox_messages.id desc limit :limit`,
);
