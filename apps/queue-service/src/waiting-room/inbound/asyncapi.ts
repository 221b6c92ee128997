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

/** What each message means, in the words of the contract. */
const serverMessages = {
  position_update: [
    positionUpdateMessage,
    'At once on connecting, then when the displayed place changes and at least every 30 s.',
  ],
  turn_granted: [turnGrantedMessage, 'The turn has come; the window ends at purchase_window_expires_at.'],
  turn_completed: [turnCompletedMessage, 'The purchase is done. The last message; close 4506 follows.'],
  turn_expired: [
    turnExpiredMessage,
    'The window, or a place without a sign of life, is over. The last message; close 4506 follows.',
  ],
  queue_closed: [queueClosedMessage, 'Sold out or closed. The last message; close 4506 follows.'],
  heartbeat_ack: [heartbeatAckMessage, 'The answer to a heartbeat; sockets only.'],
  delayed: [delayedMessage, 'The waiting room cannot see the line at the moment; the place is safe.'],
  error: [errorMessage, 'A message of a type nobody knows; the connection stays open. Sockets only.'],
} as const satisfies Record<string, readonly [z.ZodType, string]>;

const closings: Record<keyof typeof closeCodes, string> = {
  draining: 'this server is going; come back after retry_after_ms of the reason',
  unknownToken: 'the token was never issued or is long over: join again',
  notJson: 'a message was not JSON, not an object, or binary',
  tooLarge: 'a message was longer than 4,096 bytes (beyond 64 KB: 1009)',
  tooManyMessages: 'more than 10 messages in 10 seconds',
  left: 'the fan has left the line, on some device',
  over: 'the place or turn is over; its last message came before',
  replacedByNewerDevice: 'a sixth device of this fan has connected',
};

/** A message may have further members, in both directions: who does not know them ignores them. */
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

/** The socket protocol as an AsyncAPI 3 document, made of the schemas the messages are parsed by. */
export function describeSocket(queuePublicUrl: string) {
  const { host, protocol } = new URL(queuePublicUrl);
  const isSecure = protocol === 'https:';
  const all = Object.entries(serverMessages);
  const described = Object.fromEntries(
    [...all, ['heartbeat', [heartbeatMessage, 'Once a minute: the connection and the fan are alive.']] as const].map(
      ([name, [schema, summary]]) => [name, { name, summary, contentType: 'application/json', payload: schemaOf(schema) }],
    ),
  );
  const reference = (name: string) => ({ $ref: `#/components/messages/${name}` });
  const inChannel = (channel: string, name: string) => ({ $ref: `#/channels/${channel}/messages/${name}` });
  const onStream = all.map(([name]) => name).filter((name) => name !== 'heartbeat_ack' && name !== 'error');
  const channel = (address: string, summary: string, names: readonly string[]) => ({
    address,
    summary,
    parameters: {
      queue_token: { description: 'From join; good for any number of connections until the place or turn is over.' },
    },
    messages: Object.fromEntries(names.map((name) => [name, reference(name)])),
  });
  const fromServer = all.map(([name]) => name);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Tribina waiting room',
      version: '1',
      description:
        'What a fan hears while waiting. Close codes 4000–4499 come back (with backoff and full jitter), 4500–4999 do not. A full server answers the upgrade 503 with Retry-After.',
    },
    servers: {
      socket: { host, protocol: isSecure ? 'wss' : 'ws' },
      stream: { host, protocol: isSecure ? 'https' : 'http' },
    },
    channels: {
      socket: channel('/ws/{queue_token}', 'WebSocket', [...fromServer, 'heartbeat']),
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
    components: { messages: described },
    'x-close-codes': Object.fromEntries(
      Object.entries(closeCodes).map(([name, code]) => [code, closings[name as keyof typeof closeCodes]]),
    ),
    'x-limits': { message_bytes: 4096, messages_in_10_seconds: 10, connections_of_a_fan: 5 },
  };
}
