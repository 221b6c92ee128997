/**
 * The Redis keys of the waiting room (the line before a sale). The braces are literal: they are the hash tag of Redis Cluster.
 * All keys of one match are in one slot, so that one script can change them atomically.
 */
export const queueKeys = {
  /** zset user_id → join time in µs, strictly increasing: the fans in line. A fan with an earlier join time comes first. */
  line: (matchId: string) => `queue:{${matchId}}`,
  /** hash: total_size, processing_rate, created_at, status, and the counters of granted, completed and expired turns. */
  meta: (matchId: string) => `queue_meta:{${matchId}}`,
  /** string with JSON {position, queue_token, websocket_id, devices}: the queue entry of a fan; expires after 30 minutes. */
  session: (userId: string, matchId: string) => `queue_session:${userId}:{${matchId}}`,
  /** hash user_id → {expires_at, session_token}: the open purchase windows. */
  windows: (matchId: string) => `purchase_windows:{${matchId}}`,
  /** zset user_id → end of the purchase window in ms. It gives the windows that end next without reading all windows. */
  windowEnds: (matchId: string) => `queue_window_ends:{${matchId}}`,
  /**
   * string with JSON {user_id, over}: for a queue token whose queue entry or turn has ended, how it ended. So a client that
   * connects with the old token is told. Expires after QUEUE_PERSISTENCE_SECONDS.
   */
  token: (token: string, matchId: string) => `queue_token:${token}:{${matchId}}`,
  /** string: how the fan's latest queue entry or turn ended. Expires after QUEUE_PERSISTENCE_SECONDS. */
  ended: (userId: string, matchId: string) => `queue_ended:${userId}:{${matchId}}`,
  /**
   * stream: every event of the match in order. The field `event` has the JSON that is also published on the channel
   * `queue_events`.
   */
  events: (matchId: string) => `queue_events_log:{${matchId}}`,
  /**
   * closingLine, closingWindows, closingWindowEnds: when a line closes, the keys `line`, `windows` and `windowEnds` are renamed
   * to these. A script then removes the fans from them one by one and records how the queue entry or turn of each fan ended.
   */
  closingLine: (matchId: string) => `queue_closing:{${matchId}}`,
  closingWindows: (matchId: string) => `purchase_windows_closing:{${matchId}}`,
  closingWindowEnds: (matchId: string) => `queue_window_ends_closing:{${matchId}}`,
  /** zset user_id → when the fan was last present (ms), for all fans in line. */
  seen: (matchId: string) => `queue_seen:{${matchId}}`,
  /** zset user_id → time (ms) from which the fan counts as away, because all connections of the fan are closed. */
  gone: (matchId: string) => `queue_gone:{${matchId}}`,
  /**
   * `away` and `back`: zsets user_id → join time, of fans who are still in line. `away`: fans whom admission skipped because they
   * were not present. `back`: those of them who have been present again since.
   */
  away: (matchId: string) => `queue_away:{${matchId}}`,
  back: (matchId: string) => `queue_back:{${matchId}}`,
  /** hash user_id → time (ms) at which the fan was last told to be at the front of the line. */
  called: (matchId: string) => `queue_called:{${matchId}}`,
  /**
   * hash user_id → join time of the latest queue entry of the fan that has ended. A receipt (the signed text that restores a
   * queue entry) cannot restore that entry.
   */
  used: (matchId: string) => `queue_used:{${matchId}}`,
  /**
   * stream: the join times of fans who left the line, or whose queue entry was restored; the entries of the stream are numbered
   * without gaps.
   */
  moves: (matchId: string) => `queue_moves:{${matchId}}`,
  /** stream: actions of operators on the queue. */
  audit: (matchId: string) => `queue_audit:{${matchId}}`,
  /** zset pod (queue service process) → time (ms) of its last heartbeat, for pods with connections to this match. */
  podBeats: (matchId: string) => `queue_pod_beats:{${matchId}}`,
  /**
   * set of "user_id websocket_id": connections that a newer connection of the same fan has replaced, and whose pod has not
   * confirmed yet that it closed them.
   */
  replaced: (matchId: string) => `queue_replaced:{${matchId}}`,
  /**
   * string: whether Redis has the state of the match. A number means yes: it is the generation of the state that the monolith
   * sent last. Without the key, or with any other value, no request for the match is answered from Redis: `restoring G N` (part N
   * of generation G must come next), `asked` (the monolith was asked for the state), `no_queue` (the match has no waiting room).
   */
  restored: (matchId: string) => `queue_restored:{${matchId}}`,
  /**
   * hash address → joins of its clients within a minute after the opening; `#…` → how many addresses have so many joins, `!<address>` →
   * operators were told. Expires an hour after the last join that was counted.
   */
  joinsByAddress: (matchId: string) => `queue_joins_by_address:{${matchId}}`,
  /** set of the ids of matches with a queue. One key for the whole system; no script uses it. */
  matches: 'queue_matches',
  /** string: the pod that reports the gauges of all lines. Expires after 6 seconds unless the pod renews it. */
  lineReporter: 'queue_line_reporter',
  /**
   * hash user_id → end of the blacklist entry in ms, or an empty value for no end; its field `revision` is BLACKLIST_REVISION.
   * One key for the whole system.
   */
  blacklist: 'queue_blacklist',
} as const;

/**
 * Field of the hash `queueKeys.blacklist` with a number that grows with every change of the blacklist. The name cannot be a user
 * id, because user ids are UUIDs.
 */
export const BLACKLIST_REVISION = 'revision';

/**
 * Redis channel: published when the blacklist has changed, so that processes which cache it read it again. The message has no
 * content.
 */
export const BLACKLIST_CHANNEL = 'queue_blacklist';

/**
 * Redis channel that tells all pods (queue service processes) about a change of a match which their connected fans must receive:
 * `{match_id, kind, user_id?, user_ids?, device_ids?}`.
 */
export const QUEUE_PODS_CHANNEL = 'queue_pods';
