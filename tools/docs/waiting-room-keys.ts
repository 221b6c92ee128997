// The keys of the waiting room, for docs/reference/redis-keys.md (redis-keys.ts).

/** A row of the page redis-keys.md: a Redis key, or all keys of one form. */
export interface RedisKey {
  /**
   * The form of the key. `<…>` stands for a value. Braces are part of the key (the hash tag of Redis Cluster). `*` at the end
   * stands for names that BullMQ chooses.
   */
  readonly key: string;
  readonly type: 'hash' | 'set' | 'stream' | 'string' | 'zset' | 'several';
  readonly life: string;
  readonly owner: string;
  readonly holds: string;
}

const queue = 'queue service';
const match = '{<match_id>}';
const entryLifetime = '`QUEUE_PERSISTENCE_SECONDS`, renewed while the fan is present';

/** The keys of the waiting room, under the same names as in `queueKeys` of libs/contracts. */
export const waitingRoomKeys: Readonly<Record<string, RedisKey>> = {
  line: {
    key: `queue:${match}`,
    type: 'zset',
    life: 'while a fan waits',
    owner: queue,
    holds: 'user_id → join time in µs, strictly increasing',
  },
  meta: {
    key: `queue_meta:${match}`,
    type: 'hash',
    life: 'no expiry',
    owner: queue,
    holds: 'status, total_size (fans who wait now), processing_rate, created_at, and the counters of admission',
  },
  session: {
    key: `queue_session:<user_id>:${match}`,
    type: 'string',
    life: entryLifetime,
    owner: queue,
    holds:
      '`{position, queue_token, websocket_id, devices}`: position at the join, latest connection, all connections (oldest first, at most five)',
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
    holds: 'the last message for a queue token that is no longer valid',
  },
  ended: {
    key: `queue_ended:<user_id>:${match}`,
    type: 'string',
    life: '`QUEUE_PERSISTENCE_SECONDS`',
    owner: queue,
    holds: "how the fan's last queue entry or turn ended",
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
    holds: 'a closed line, until the last message for each of its fans is written',
  },
  closingWindows: {
    key: `purchase_windows_closing:${match}`,
    type: 'hash',
    life: 'seconds',
    owner: queue,
    holds: 'the open windows of the closed line',
  },
  closingWindowEnds: {
    key: `queue_window_ends_closing:${match}`,
    type: 'zset',
    life: 'seconds',
    owner: queue,
    holds: 'the ends of these windows',
  },
  seen: {
    key: `queue_seen:${match}`,
    type: 'zset',
    life: 'while a fan waits',
    owner: queue,
    holds: 'user_id → time in ms when the fan was last seen; a fan who joined and was not seen since is missing',
  },
  gone: {
    key: `queue_gone:${match}`,
    type: 'zset',
    life: 'while a fan waits',
    owner: queue,
    holds: 'user_id → time in ms from which a fan whose connections have closed counts as away',
  },
  away: {
    key: `queue_away:${match}`,
    type: 'zset',
    life: 'while a fan waits',
    owner: queue,
    holds: 'user_id → join time of fans who were passed while away; they are still in line',
  },
  back: {
    key: `queue_back:${match}`,
    type: 'zset',
    life: 'while a fan waits',
    owner: queue,
    holds: 'user_id → join time of fans who returned after they were passed; they get the next turns',
  },
  called: {
    key: `queue_called:${match}`,
    type: 'hash',
    life: 'while a fan waits',
    owner: queue,
    holds: 'user_id → time in ms when an absent fan was last notified at the front of the line',
  },
  used: {
    key: `queue_used:${match}`,
    type: 'hash',
    life: 'until the queue closes',
    owner: queue,
    holds: "user_id → join time of the fan's latest ended queue entry; its receipt is no longer valid",
  },
  moves: {
    key: `queue_moves:${match}`,
    type: 'stream',
    life: 'about the last 2,000 entries',
    owner: queue,
    holds:
      'numbered entries `gone` (and `back`) with the join times of fans who left (or returned); pods compute positions from them',
  },
  audit: {
    key: `queue_audit:${match}`,
    type: 'stream',
    life: 'about the last 10,000 entries',
    owner: queue,
    holds: 'the actions of operators: `at`, `request`, resulting `status`',
  },
  podBeats: {
    key: `queue_pod_beats:${match}`,
    type: 'zset',
    life: '1 min after the last heartbeat',
    owner: queue,
    holds: "pod → time of its last heartbeat in ms. If a fan's list of connections is full, those of silent pods do not count",
  },
  replaced: {
    key: `queue_replaced:${match}`,
    type: 'set',
    life: '1 min after the last replacement',
    owner: queue,
    holds:
      '`<user_id> <websocket_id>` of connections that newer ones have replaced, until their pod confirms that they are closed',
  },
  restored: {
    key: `queue_restored:${match}`,
    type: 'string',
    life: 'no expiry',
    owner: `${queue}; only a request of the monolith sets a number`,
    holds:
      'whether Redis has the state of the match: a number (yes; the generation of the state that was sent), `restoring G N` (10 s), `asked` (1 s), `no_queue` (60 s). Without a number the queue service gives no answers for this match',
  },
  matches: { key: 'queue_matches', type: 'set', life: 'no expiry', owner: queue, holds: 'ids of all matches that have a queue' },
  blacklist: {
    key: 'queue_blacklist',
    type: 'hash',
    life: 'no expiry',
    owner: `monolith; the ${queue} reads it`,
    holds: 'user_id → end of the entry in ms, empty for no end; `revision` of the list. A copy, PostgreSQL has the original',
  },
};
