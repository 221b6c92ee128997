// Renders docs/reference/events.md: all messages between processes, from the zod schemas with which the receiver parses them.
import type { z } from 'zod';
import { markdownTable } from './markdown-table.ts';
import { fieldTable, variantsOf } from './schema-table.ts';

/** For each destination of outbox messages: the consumer, and the form in which a message arrives at it. */
export const documentedDestinations: Readonly<Record<string, readonly [consumer: string, form: string]>> = {
  email: ['notification worker', 'a job of the BullMQ queue `email`'],
  push: ['notification worker', 'a job of the BullMQ queue `push`'],
  'push-priority': ['notification worker', 'a job of the BullMQ queue `push-priority`, which has priority over `push`'],
  jobs: [
    'monolith',
    'the id of a general background job, for the transport (`JOBS_TRANSPORT`); or the id of a failed job to retry',
  ],
  events: ['any subscriber', 'an entry of the Redis stream `domain_events` with the fields `message_id` and `event`'],
  'waiting-room': ['queue service', 'a request to its internal REST API, repeated until the answer is 2xx'],
  payments: ['payment provider', 'a refund or the cancellation of an intent, with an idempotency key'],
  devices: ['monolith', 'push tokens that the provider reports as invalid; their devices are removed'],
  webhooks: ['monolith', 'an event for the webhooks of partners; each webhook that wants it gets a delivery'],
  'sandbox-webhook': ['monolith', 'a signed request to the payment webhook, sent by the sandbox in the role of the provider'],
};

/** For each domain event: its meaning, and the outbox messages that it causes. */
export const events: Readonly<Record<string, readonly [meaning: string, messages: string]>> = {
  'match.created': ['a match was created', '`waiting-room`: the queue is created, if the match has one'],
  'match.sold_out': [
    'no seat is available and no seat is held',
    '`waiting-room`: the line ends, if the match has one; open windows continue',
  ],
  'match.reopened': ['a sold-out match has available seats again', '`waiting-room`: the queue is open again, with an empty line'],
  'match.changed': ['a match with sold tickets has a new kickoff or venue', '`email`: one `match_changed` to each ticket holder'],
  'match.cancelled': [
    'a match will not be played',
    '`email`: one `match_changed` (`cancelled`) to each ticket holder; then every completed order is refunded',
  ],
  'match.coming_up': ['the kickoff is less than a day away', '`email`: one `match_reminder` to each ticket holder'],
  'order.completed': ['an order was paid', '`email`: one mail `order_confirmation`; `waiting-room`: the turn is completed'],
  'order.cancelled': ['an order was cancelled before its payment', '`payments`: its intent is cancelled'],
  'order.refunded': [
    'an order was refunded, in full or for some of its tickets',
    '`payments`: one refund; `email`: one mail `refund`',
  ],
  'ticket.generated': ['the tickets of an order were created', '`email` and `push`: one `ticket_delivery` with all of them'],
  'quota.invitation': [
    'a person was invited to places of a quota, or is reminded of that',
    '`email`: one `quota_invitation`; `push`: one to the devices of the fan whom the invitation names',
  ],
  'quota.return_due': [
    'a quota with free places returns them in 7 days, or in 1 day',
    '`email`: one `quota_return` to its contact',
  ],
  'quota.returned': ['the return of a quota has taken effect', '`email`: one `quota_return` to its contact'],
  'transfer.offered': [
    'a fan offers a ticket to another one',
    '`email`: one `transfer_offer` to the receiver; `push`: one to the devices of the fan whom the offer names',
  ],
  'ticket.transferred': ['the receiver of an offer has accepted the ticket', '`email`: one `transfer_answer` to the giver'],
  'transfer.declined': ['the receiver of an offer has declined the ticket', '`email`: one `transfer_answer` to the giver'],
  'transfer.expired': ['the time of an offer is over', '`email`: one `transfer_answer` to the giver'],
  'reservation.expired': ['a hold ended without payment', '`events` only: no mail and no push'],
  'queue.turn_granted': ['a fan got a turn', '`push-priority`: `queue_your_turn`'],
  'queue.front_reached': ['a fan who is away reached the front of the line', '`push-priority`: `queue_front`'],
  'queue.position_update': ['fans without a socket passed position 1,000, 100 or 10', '`push`: `queue_position`'],
  'queue.joins_from_one_address': [
    'in the first minute after an opening an address had at least 50 joins and more than 2 % of the line; once for a match and address',
    'no message to fans; an alert to operators',
  ],
  'queue.state_needed': [
    'Redis has lost the state of a match. Published once a second until the state is restored; not in the stream',
    'the monolith sends the state (`PUT …/restore`), or says that the match has no queue',
  ],
  'device.tokens_dead': [
    'the push provider no longer knows some tokens',
    '`devices`: their devices are removed, unless they were registered again in the meantime',
  ],
  'queue.expired': ['a window ended without a purchase', 'no message; the monolith ends the window too'],
};

const head = `# Events and jobs

Generated by \`npm run docs\` from \`libs/contracts\` and \`tools/docs/events.ts\`; a test fails when they differ.

All messages are delivered **at least once** (ADR 0006): the consumer recognises a repeated message by its id. The consumer parses each
message with the schema shown here. A message that does not fit the schema is set aside as a whole.

## Events
`;

const outboxHead = `
## Destinations of the outbox
A row of the table \`outbox\` is written in the transaction of its effect and contains the message as it will be delivered. Each
destination has one relay. It delivers in batches, oldest first; the messages of one aggregate stay in order.

`;

const queueHead = `
## Events of the waiting room
Each event is first added to the match's stream \`queue_events_log:{<match_id>}\` (field \`event\`) and then published on the channel
\`queue_events\`. The stream is the guarantee; the published message is only a hint to read the stream now.
`;

const jobsHead = `
## Jobs of the notification worker
BullMQ queues with the prefix \`{notification}\`. The name of a job is its template. After three failed attempts a job goes to the dead
letters.
`;

/** The text of docs/reference/events.md. */
export function renderEvents(contracts: { queueEvent: z.ZodType; emailJob: z.ZodType; pushJob: z.ZodType }): string {
  const named = (rows: Readonly<Record<string, readonly [string, string]>>) =>
    Object.entries(rows).map(([name, cells]) => [`\`${name}\``, ...cells]);
  const section = (title: string, schema: z.ZodType) => `\n### ${title}\n${fieldTable(schema)}`;
  return [
    head,
    markdownTable(['Event', 'Meaning', 'Messages'], named(events)),
    outboxHead,
    markdownTable(['Destination', 'Consumer', 'Form'], named(documentedDestinations)),
    queueHead,
    ...variantsOf(contracts.queueEvent, 'event').map(([name, schema]) => section(`\`${name}\``, schema)),
    jobsHead,
    ...variantsOf(contracts.emailJob, 'template').map(([name, schema]) => section(`\`email\`: ${name}`, schema)),
    section('`push` and `push-priority`', contracts.pushJob),
  ].join('');
}
