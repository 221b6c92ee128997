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
  -- names of the files that came with it
  attachments text[] not null default '{}',
  sent_at timestamptz not null default clock_timestamp(),
  constraint mailbox_messages_pkey primary key (id),
  constraint mailbox_messages_channel_check check (channel in ('email', 'push'))
);

create index mailbox_messages_recipient_idx on mailbox_messages (recipient, id desc);
create index mailbox_messages_user_idx on mailbox_messages (user_id, id desc) where user_id is not null;

-- How far one push job of up to 500 devices has come (apps/notification-worker/src/push/outbound/push-ledger.ts). Written before
-- the first request, while it goes on, and at the end, so that whoever takes the job next does not begin again.
create table push_progress (
  message_id text not null,
  broadcast_id uuid,
  devices smallint not null,
  -- who has it in hand; null: nobody, and nothing of it is in doubt
  holder uuid,
  claimed_at timestamptz not null,
  finished_at timestamptz,
  -- indexes of the devices that are done with, delivered or not
  done smallint[] not null default '{}',
  dead smallint not null default 0,
  refused smallint not null default 0,
  constraint push_progress_pkey primary key (message_id)
);

create index push_progress_broadcast_idx on push_progress (broadcast_id) where broadcast_id is not null;
create index push_progress_finished_at_idx on push_progress using brin (finished_at);

-- One notification to very many fans: the devices are written down once, and each job carries a range of them.
create table broadcasts (
  id uuid not null,
  template text not null,
  devices integer not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint broadcasts_pkey primary key (id)
);

create table broadcast_devices (
  broadcast_id uuid not null,
  ordinal integer not null,
  fcm_token text not null,
  constraint broadcast_devices_pkey primary key (broadcast_id, ordinal),
  constraint broadcast_devices_broadcast_fkey foreign key (broadcast_id) references broadcasts (id) on delete cascade
);

-- Messages that are jobs in Redis and not yet done with: a copy, moved here from the outbox by the relay, so that a Redis that
-- loses everything costs no message. The worker deletes it with the job's end and puts back what Redis no longer knows.
create table queued_jobs (
  message_id uuid not null,
  queue text not null,
  -- not compressed: it lives for moments, and to compress a bundle is a fifth of what it costs
  body jsonb storage external not null,
  -- more than one: a bundle of so many jobs that do not stand in their queue yet
  jobs integer not null default 1,
  queued_at timestamptz not null default clock_timestamp(),
  constraint queued_jobs_pkey primary key (message_id)
);
-- How many jobs are still in bundles is asked with every look at the metrics.
create index queued_jobs_bundles on queued_jobs (queue) include (jobs) where jobs > 1;
