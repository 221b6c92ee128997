// docs/reference/redis-keys.md: every key the system keeps in Redis. A test compares it with the keys of a running system.

export interface RedisKey {
  /** `<…>` stands for a value, braces are literal: the cluster's hash tag. `*` at the end: a family that BullMQ names. */
  readonly key: string;
  readonly type: 'hash' | 'set' | 'stream' | 'string' | 'zset' | 'several';
  readonly life: string;
  readonly owner: string;
  readonly holds: string;
}

const queue = 'queue service';
const match = '{<match_id>}';
const placeLife = '`QUEUE_PERSISTENCE_SECONDS`, renewed while the fan is there';

/** By their name in `queueKeys` of libs/contracts. */
export const waitingRoomKeys: Readonly<Record<string, RedisKey>> = {
  line: {
    key: `queue:${match}`,
    type: 'zset',
    life: 'while anybody waits',
    owner: queue,
    holds: 'user_id → join time in µs, strictly increasing',
  },
  meta: {
    key: `queue_meta:${match}`,
    type: 'hash',
    life: 'for ever',
    owner: queue,
    holds: 'status, total_size (waiting now), processing_rate, created_at, and what admission counts',
  },
  session: {
    key: `queue_session:<user_id>:${match}`,
    type: 'string',
    life: placeLife,
    owner: queue,
    holds:
      '`{position, queue_token, websocket_id, devices}`: position at the join, latest connection, all connections (oldest first, five at most)',
  },
  windows: {
    key: `purchase_windows:${match}`,
    type: 'hash',
    life: 'while a window is open',
    owner: `${queue}; the monolith reads it`,
    holds: 'user_id → `{expires_at, session_token}`',
  },
  windowEnds: {
    key: `queue_window_ends:${match}`,
    type: 'zset',
    life: 'while a window is open',
    owner: queue,
    holds: 'user_id → end of the window in ms',
  },
  token: {
    key: `queue_token:<queue_token>:${match}`,
    type: 'string',
    life: '`QUEUE_PERSISTENCE_SECONDS`',
    owner: queue,
    holds: 'the last word of a token that is over',
  },
  ended: {
    key: `queue_ended:<user_id>:${match}`,
    type: 'string',
    life: '`QUEUE_PERSISTENCE_SECONDS`',
    owner: queue,
    holds: "how the fan's last place or turn ended",
  },
  events: {
    key: `queue_events_log:${match}`,
    type: 'stream',
    life: 'about the last 100,000 entries',
    owner: `${queue}; the monolith reads it`,
    holds: 'every event in order, in the field `event`',
  },
  closingLine: {
    key: `queue_closing:${match}`,
    type: 'zset',
    life: 'seconds',
    owner: queue,
    holds: 'a closed line until every fan has been told',
  },
  closingWindows: { key: `purchase_windows_closing:${match}`, type: 'hash', life: 'seconds', owner: queue, holds: 'its windows' },
  closingWindowEnds: {
    key: `queue_window_ends_closing:${match}`,
    type: 'zset',
    life: 'seconds',
    owner: queue,
    holds: 'their ends',
  },
  seen: {
    key: `queue_seen:${match}`,
    type: 'zset',
    life: 'while anybody waits',
    owner: queue,
    holds: 'user_id → last sign of life in ms',
  },
  gone: {
    key: `queue_gone:${match}`,
    type: 'zset',
    life: 'while anybody waits',
    owner: queue,
    holds: 'user_id → since when (ms) a fan whose connections closed counts as away',
  },
  away: {
    key: `queue_away:${match}`,
    type: 'zset',
    life: 'while anybody waits',
    owner: queue,
    holds: 'user_id → join time: passed while away, still in line',
  },
  back: {
    key: `queue_back:${match}`,
    type: 'zset',
    life: 'while anybody waits',
    owner: queue,
    holds: 'user_id → join time: back after having been passed, next to be granted',
  },
  called: {
    key: `queue_called:${match}`,
    type: 'hash',
    life: 'while anybody waits',
    owner: queue,
    holds: 'user_id → last call to the front in ms',
  },
  used: {
    key: `queue_used:${match}`,
    type: 'hash',
    life: 'until the queue closes',
    owner: queue,
    holds: 'user_id → join time of the latest place that is over: its receipt is worth nothing',
  },
  moves: {
    key: `queue_moves:${match}`,
    type: 'stream',
    life: 'about the last 2,000 entries',
    owner: queue,
    holds: 'numbered `gone` (and `back`): join times of those who left the line, from which pods know every position',
  },
  audit: {
    key: `queue_audit:${match}`,
    type: 'stream',
    life: 'about the last 10,000 entries',
    owner: queue,
    holds: 'what operators did: `at`, `request`, `status` afterwards',
  },
  podBeats: {
    key: `queue_pod_beats:${match}`,
    type: 'zset',
    life: '1 min after the last pod has gone',
    owner: queue,
    holds: 'pod → when it last said that it lives (ms): connections of others do not count where there is no room',
  },
  replaced: {
    key: `queue_replaced:${match}`,
    type: 'set',
    life: '1 min after the last',
    owner: queue,
    holds:
      '`<user_id> <websocket_id>` of connections that newer ones have replaced and whose pod has not yet said that they are closed',
  },
  matches: { key: 'queue_matches', type: 'set', life: 'for ever', owner: queue, holds: 'ids of all matches that have a queue' },
  blacklist: {
    key: 'queue_blacklist',
    type: 'hash',
    life: 'for ever',
    owner: `monolith; the ${queue} reads it`,
    holds: 'user_id → end of the entry in ms, empty for none; `revision` of the list. PostgreSQL is the truth',
  },
};

export const platformKeys: readonly RedisKey[] = [
  {
    key: '{provider:<provider>}:calls',
    type: 'zset',
    life: '70 s after the last call',
    owner: 'notification worker',
    holds: 'calls to a mail or push provider that still count against its limit, by when they stop counting',
  },
  {
    key: '{provider:<provider>}:state',
    type: 'hash',
    life: '10 min after the last call',
    owner: 'notification worker',
    holds: '`failures` in a row, `open` and `next_try` of the breaker, `pause_until` and `share` after a 429',
  },
  {
    key: 'idempotency:<key>',
    type: 'hash',
    life: '48 h',
    owner: 'monolith',
    holds: '`status` processing or completed, `fingerprint` of the request, `response`; PostgreSQL is the truth',
  },
  {
    key: 'idempotency:lock:<key>',
    type: 'string',
    life: '30 s, renewed while the request runs',
    owner: 'monolith',
    holds: 'who is working on it',
  },
  {
    key: 'rate_limit:user:<user_id>:<minute>',
    type: 'zset',
    life: '2 min',
    owner: 'monolith',
    holds: 'accepted purchases of a fan by their time',
  },
  {
    key: 'rate_limit:global:<address>:<minute>',
    type: 'zset',
    life: '2 min',
    owner: 'monolith',
    holds: 'accepted requests of an address (IPv6: of its /64)',
  },
  {
    key: 'rate_limit:global:<service>:<address>:<minute>',
    type: 'zset',
    life: '2 min',
    owner: 'the other services',
    holds: 'the same, for each of them',
  },
  {
    key: 'outbox:processed:<message_id>',
    type: 'set',
    life: '8 days',
    owner: 'who takes messages',
    holds: 'names of the consumers that are done with it; the inbox row is the truth',
  },
  {
    key: 'domain_events',
    type: 'stream',
    life: 'about the last 100,000 entries',
    owner: 'monolith',
    holds: '`message_id` and `event` of facts nobody in particular is told',
  },
  {
    key: 'loader:lock:{<source>}',
    type: 'string',
    life: '30 s, renewed while the holder lives',
    owner: 'event loader',
    holds: 'who may fetch from this source',
  },
  {
    key: 'loader:fence:{<source>}',
    type: 'string',
    life: 'for ever',
    owner: 'event loader',
    holds: "number of the lock's last holder: Redis' own time in µs, strictly increasing",
  },
  {
    key: 'loader:gate:{<source>}',
    type: 'string',
    life: '450 ms while a request may be made, 200 ms after it',
    owner: 'event loader',
    holds: '`1`: nobody may ask this source now',
  },
  {
    key: '{notification}:*',
    type: 'several',
    life: "BullMQ's: completed jobs 1 h, failed ones 30 days",
    owner: 'monolith writes, worker takes',
    holds: 'the queues `email`, `push`, `push-priority`',
  },
  {
    key: '{jobs}:*',
    type: 'several',
    life: "BullMQ's: completed jobs 1 h, failed ones 30 days",
    owner: 'monolith',
    holds: 'ids of general background jobs, with `JOBS_TRANSPORT=redis`; the jobs stand in PostgreSQL',
  },
];

const channels = [
  ['queue_events', 'queue service → monolith', 'the events of the stream above, as a hint to read it now'],
  [
    'queue_pods',
    'between pods of the queue service',
    '`{match_id, kind, user_id?, user_ids?, device_ids?}`: something their sockets must hear',
  ],
  ['queue_blacklist', 'monolith → monolith and queue service', 'the blacklist has changed: look again'],
];

const head = `# Redis keys

Generated by \`npm run docs\` from \`libs/contracts/src/queue-keys.ts\` and \`tools/docs/redis-keys.ts\`; a test compares it with a running system.

\`<…>\` stands for a value; **braces are literal**: the hash tag that keeps all keys of one match in one cluster slot, so that one script
can change them together. Redis may lose everything: lines are restored from receipts and fans joining again, the rest from PostgreSQL.

| Key | Type | Lives | Owner | Holds |
|---|---|---|---|---|
`;

export function renderRedisKeys(): string {
  const rows = [...Object.values(waitingRoomKeys), ...platformKeys].map(
    ({ key, type, life, owner, holds }) => `| \`${key}\` | ${type} | ${life} | ${owner} | ${holds} |`,
  );
  const published = channels.map(([name, who, what]) => `| \`${name}\` | ${who} | ${what} |`);
  return `${head}${rows.join('\n')}\n\n## Channels\n| Channel | Between | Carries |\n|---|---|---|\n${published.join('\n')}\n`;
}

/** The pattern a key of this kind fits. */
export function patternOf({ key }: RedisKey): RegExp {
  const literal = key.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${literal.replaceAll(/<\w+>/g, '[^{}]+').replace(String.raw`\*`, '.*')}$`);
}
