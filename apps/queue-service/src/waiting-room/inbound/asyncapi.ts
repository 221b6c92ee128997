import type { publicUrls } from '#platform/config/settings';
import { infoOf } from '#platform/http/openapi';
import { z } from 'zod';
import {
  closeCodes,
  delayedMessage,
  errorMessage,
  heartbeatAckMessage,
  heartbeatMessage,
  positionUpdateMessage,
  queueClosedMessage,
  turnCompletedMessage,
  turnExpiredMessage,
  turnGrantedMessage,
} from '#contracts/socket-messages';

interface DocumentedMessage<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly summary: string;
  readonly examples: readonly z.input<Schema>[];
}
const documented = <Schema extends z.ZodType>(schema: Schema, summary: string, ...examples: z.input<Schema>[]) =>
  ({ schema, summary, examples }) satisfies DocumentedMessage<Schema>;

/** The schema, the description and examples of each message. All but `heartbeat` come from the server. */
const messages = {
  position_update: documented(
    positionUpdateMessage,
    'Sent at once on connecting, then when the displayed position changes, and at least every 30 s.',
    { type: 'position_update', position: 512, total: 8300, estimated_wait_minutes: 9, estimated_wait_range: [9, 12] },
    {
      type: 'position_update',
      position: 512,
      total: 8300,
      estimated_wait_minutes: null,
      estimated_wait_range: null,
      paused: true,
      reason: 'floodlights',
    },
  ),
  turn_granted: documented(turnGrantedMessage, 'The fan may buy now. The window ends at purchase_window_expires_at.', {
    type: 'turn_granted',
    purchase_window_expires_at: '2026-09-01T10:20:00.000Z',
    checkout_url: 'http://127.0.0.1:3000/matches/0198c2a0-0000-7000-8000-000100000001/checkout',
    session_token: 'st_example-of-a-session-token',
  }),
  turn_completed: documented(turnCompletedMessage, 'The purchase is completed. This is the last message; close 4506 follows.', {
    type: 'turn_completed',
  }),
  turn_expired: documented(
    turnExpiredMessage,
    'The window has expired, or the fan was dropped from the line after too long an absence. This is the last message; close 4506 follows.',
    { type: 'turn_expired' },
  ),
  queue_closed: documented(queueClosedMessage, 'The sale is sold out or closed. This is the last message; close 4506 follows.', {
    type: 'queue_closed',
    reason: 'sold_out',
  }),
  heartbeat_ack: documented(heartbeatAckMessage, 'The answer to a heartbeat. Sockets only.', { type: 'heartbeat_ack' }),
  delayed: documented(delayedMessage, 'The waiting room cannot read the line at the moment. The fan keeps the position.', {
    type: 'delayed',
  }),
  error: documented(errorMessage, 'The client sent a message of an unknown type. The connection stays open. Sockets only.', {
    type: 'error',
    code: 'UNKNOWN_MESSAGE_TYPE',
  }),
  heartbeat: documented(heartbeatMessage, 'The client sends it once a minute to show that the connection works.', {
    type: 'heartbeat',
  }),
};

const closeReasons: Record<keyof typeof closeCodes, string> = {
  draining: 'this server is shutting down; reconnect after the retry_after_ms given in the reason',
  unknownToken: 'the token was never issued or ended long ago; join again',
  notJson: 'a message was not JSON, not an object, or binary',
  tooLarge: 'a message was longer than 4,096 bytes (beyond 64 KB: 1009)',
  tooManyMessages: 'more than 10 messages in 10 seconds',
  left: 'the fan has left the line, on some device',
  over: 'the queue entry or turn has ended; its last message was sent before',
  replacedByNewerDevice: 'a sixth device of this fan has connected',
};

/** The JSON schema of a message. Further members are allowed in both directions; the receiver ignores members it does not know. */
function schemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'output',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return rest;
}

const DESCRIPTION = `What the waiting room tells a waiting fan. The WebSocket and the event stream carry the same messages; one connection
is enough. The current state comes at once on connecting. Ignore messages and members that you do not know.`;

const LIFE = 'The `queue_token` in the path is the credential. It is valid until the queue entry or the turn ends.';

/** When a client connects again, and what each close code means. */
const closing = [
  'After close codes 4000–4499 connect again, with backoff and full jitter; after 4500–4999 do not.',
  'A full server answers the upgrade with 503 and `Retry-After`; a foreign `Origin` is 403.\n',
  ...Object.entries(closeCodes).map(([name, code]) => `- \`${code}\`: ${closeReasons[name as keyof typeof closeCodes]}`),
].join('\n');

/** Describes the socket protocol as an AsyncAPI 3 document, generated from the zod schemas of the messages. */
export function describeSocket({ publicUrl, queuePublicUrl }: ReturnType<typeof publicUrls>) {
  const described = Object.entries(messages).map(([name, { schema, summary, examples }]) => [
    name,
    {
      name,
      title: name.replaceAll('_', ' '),
      summary,
      contentType: 'application/json',
      payload: schemaOf(schema),
      examples: examples.map((payload) => ({ name, payload })),
    },
  ]);
  const names = Object.keys(messages);
  const fromServer = names.filter((name) => name !== 'heartbeat');
  const onStream = fromServer.filter((name) => name !== 'heartbeat_ack' && name !== 'error');
  return {
    asyncapi: '3.0.0',
    info: {
      ...infoOf({ title: 'Tribina waiting room: messages', description: DESCRIPTION, contactUrl: publicUrl }),
      // AsyncAPI has no SPDX identifiers.
      license: { name: 'Apache License 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      tags: [{ name: 'waiting room', description: 'The line in front of a sale.' }],
      externalDocs: { url: `${queuePublicUrl}/docs`, description: 'The REST API, with the call `join` that gives the token' },
    },
    servers: serversAt(new URL(queuePublicUrl)),
    channels: {
      socket: channel('socket', {
        address: '/ws/{queue_token}',
        title: 'WebSocket',
        summary: 'The messages as text frames, one JSON object each',
        description: `${LIFE} ${closing}`,
        carried: names,
      }),
      stream: channel('stream', {
        address: '/sse/{queue_token}',
        title: 'Event stream',
        summary: 'Server-sent events: unnamed events, the same JSON',
        description: `${LIFE} For networks that block WebSockets. A comment comes every 15 s. An unknown or ended token is 404.`,
        carried: onStream,
      }),
    },
    operations: {
      sendToSocket: operation('send', 'socket', fromServer, 'Tell a fan the state of the line and of the turn'),
      sendToStream: operation('send', 'stream', onStream, 'Tell a fan the same without a WebSocket'),
      receiveHeartbeat: operation('receive', 'socket', ['heartbeat'], 'Hear that the client is still there'),
    },
    components: { messages: Object.fromEntries(described) },
    'x-close-codes': Object.fromEntries(
      Object.entries(closeCodes).map(([name, code]) => [code, closeReasons[name as keyof typeof closeCodes]]),
    ),
    'x-limits': { message_bytes: 4096, messages_in_10_seconds: 10, connections_of_a_fan: 5 },
  };
}

function serversAt({ host, protocol, pathname }: URL) {
  const isSecure = protocol === 'https:';
  const path = pathname === '/' ? {} : { pathname };
  return {
    socket: { host, ...path, protocol: isSecure ? 'wss' : 'ws', description: 'For the WebSocket' },
    stream: { host, ...path, protocol: isSecure ? 'https' : 'http', description: 'For the event stream' },
  };
}

type Channel = 'socket' | 'stream';

function channel(
  name: Channel,
  facts: { address: string; title: string; summary: string; description: string; carried: string[] },
) {
  const { carried, ...about } = facts;
  return {
    ...about,
    servers: [{ $ref: `#/servers/${name}` }],
    parameters: {
      queue_token: {
        description: 'From the answer of join. Valid for any number of connections until the queue entry or turn ends.',
      },
    },
    messages: Object.fromEntries(carried.map((message) => [message, { $ref: `#/components/messages/${message}` }])),
  };
}

function operation(action: 'send' | 'receive', on: Channel, carried: readonly string[], summary: string) {
  return {
    action,
    channel: { $ref: `#/channels/${on}` },
    title: summary,
    summary,
    description: `${action === 'send' ? 'From the server to the client' : 'From the client to the server'}: ${carried.join(', ')}.`,
    messages: carried.map((message) => ({ $ref: `#/channels/${on}/messages/${message}` })),
  };
}
