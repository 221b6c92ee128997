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

/** The schema and the description of each message. All but `heartbeat` come from the server. */
const messages = {
  position_update: [
    positionUpdateMessage,
    'Sent at once on connecting, then when the displayed position changes, and at least every 30 s.',
  ],
  turn_granted: [turnGrantedMessage, 'The fan may buy now. The window ends at purchase_window_expires_at.'],
  turn_completed: [turnCompletedMessage, 'The purchase is completed. This is the last message; close 4506 follows.'],
  turn_expired: [
    turnExpiredMessage,
    'The window has expired, or the fan was dropped from the line after too long an absence. This is the last message; close 4506 follows.',
  ],
  queue_closed: [queueClosedMessage, 'The sale is sold out or closed. This is the last message; close 4506 follows.'],
  heartbeat_ack: [heartbeatAckMessage, 'The answer to a heartbeat. Sockets only.'],
  delayed: [delayedMessage, 'The waiting room cannot read the line at the moment. The fan keeps the position.'],
  error: [errorMessage, 'The client sent a message of an unknown type. The connection stays open. Sockets only.'],
  heartbeat: [heartbeatMessage, 'The client sends it once a minute to show that the connection works.'],
} as const satisfies Record<string, readonly [z.ZodType, string]>;

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

/** Describes the socket protocol as an AsyncAPI 3 document, generated from the zod schemas of the messages. */
export function describeSocket(queuePublicUrl: string) {
  const { host, protocol } = new URL(queuePublicUrl);
  const isSecure = protocol === 'https:';
  const described = Object.entries(messages).map(([name, [schema, summary]]) => [
    name,
    { name, summary, contentType: 'application/json', payload: schemaOf(schema) },
  ]);
  const inChannel = (channel: string, name: string) => ({ $ref: `#/channels/${channel}/messages/${name}` });
  const names = Object.keys(messages);
  const fromServer = names.filter((name) => name !== 'heartbeat');
  const onStream = fromServer.filter((name) => name !== 'heartbeat_ack' && name !== 'error');
  const channel = (address: string, summary: string, carried: readonly string[]) => ({
    address,
    summary,
    parameters: {
      queue_token: {
        description: 'From the answer of join. Valid for any number of connections until the queue entry or turn ends.',
      },
    },
    messages: Object.fromEntries(carried.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
  });
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Tribina waiting room',
      version: '1',
      description:
        'The messages to a waiting fan. After close codes 4000–4499 the client reconnects (with backoff and full jitter), after 4500–4999 it does not. A full server answers the upgrade with 503 and Retry-After.',
    },
    servers: {
      socket: { host, protocol: isSecure ? 'wss' : 'ws' },
      stream: { host, protocol: isSecure ? 'https' : 'http' },
    },
    channels: {
      socket: channel('/ws/{queue_token}', 'WebSocket', names),
      stream: channel('/sse/{queue_token}', 'Server-sent events: unnamed events, the same JSON', onStream),
    },
    operations: {
      tell: {
        action: 'send',
        channel: { $ref: '#/channels/socket' },
        messages: fromServer.map((name) => inChannel('socket', name)),
      },
      stream: {
        action: 'send',
        channel: { $ref: '#/channels/stream' },
        messages: onStream.map((name) => inChannel('stream', name)),
      },
      hear: { action: 'receive', channel: { $ref: '#/channels/socket' }, messages: [inChannel('socket', 'heartbeat')] },
    },
    components: { messages: Object.fromEntries(described) },
    'x-close-codes': Object.fromEntries(
      Object.entries(closeCodes).map(([name, code]) => [code, closeReasons[name as keyof typeof closeCodes]]),
    ),
    'x-limits': { message_bytes: 4096, messages_in_10_seconds: 10, connections_of_a_fan: 5 },
  };
}
