// The keys of the waiting room, for docs/reference/redis-keys.md (redis-keys.ts).

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
    holds: 'user_id → `{expires_at, session_token}`, and `generation`, `place_score`',
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
    holds: 'user_id → last sign of life in ms; who has only joined is not in it',
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
  restored: {
    key: `queue_restored:${match}`,
    type: 'string',
    life: 'for ever',
    owner: `${queue}; only a call of the monolith makes it a number`,
    holds:
      'what Redis knows of the match: a number (known: the generation of the state that was sent), `restoring G N` (10 s), `asked` (1 s), `no_queue` (60 s); without a number nothing is answered',
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
