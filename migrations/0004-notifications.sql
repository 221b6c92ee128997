-- What would have been sent, when the provider is the mailbox (apps/notification-worker/src/mailbox).
create table mailbox_messages (
  id bigint generated always as identity,
  channel text not null,
  -- the address of a mail, the token of a push: one row a device
  recipient text not null,
  user_id uuid,
  template text not null,
  subject text not null,
  text text not null,
  html text,
  sent_at timestamptz not null default clock_timestamp(),
  constraint mailbox_messages_pkey primary key (id),
  constraint mailbox_messages_channel_check check (channel in ('email', 'push'))
);

create index mailbox_messages_recipient_idx on mailbox_messages (recipient, id desc);
create index mailbox_messages_user_idx on mailbox_messages (user_id, id desc) where user_id is not null;
