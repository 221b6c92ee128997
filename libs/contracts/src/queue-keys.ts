/**
 * The waiting room's Redis keys. The braces are literal: they are the hash tag of Redis Cluster. All keys of one match are in one
 * slot, so one script can change them atomically.
 */
export const queueKeys = {
  /** zset user_id → join time in µs, strictly increasing. */
  line: (matchId: string) => `queue:{${matchId}}`,
  /** hash: total_size, processing_rate, created_at, status, and the counters of admission. */
  meta: (matchId: string) => `queue_meta:{${matchId}}`,
  /** string {position, queue_token, websocket_id, devices}; expires after 30 minutes. */
  session: (userId: string, matchId: string) => `queue_session:${userId}:{${matchId}}`,
  /** hash user_id → {expires_at, session_token}. */
  windows: (matchId: string) => `purchase_windows:{${matchId}}`,
  /** zset user_id → end of the window in ms. Finds the next window to end without reading all of them. */
  windowEnds: (matchId: string) => `queue_window_ends:{${matchId}}`,
  /** string: the last message for a queue token that has ended. While the token is valid, the session stores it. */
  token: (token: string, matchId: string) => `queue_token:${token}:{${matchId}}`,
  /** string: how the fan's last queue entry or turn ended. Expires after QUEUE_PERSISTENCE_SECONDS. */
  ended: (userId: string, matchId: string) => `queue_ended:${userId}:{${matchId}}`,
  /** stream: every event of the match in order, field `event` = the JSON that is also published. */
  events: (matchId: string) => `queue_events_log:{${matchId}}`,
  /**
   * closingLine, closingWindows, closingWindowEnds: a close renames line, windows and window ends to these keys. They are deleted
   * after the last message to each fan has been written.
   */
  closingLine: (matchId: string) => `queue_closing:{${matchId}}`,
  closingWindows: (matchId: string) => `purchase_windows_closing:{${matchId}}`,
  closingWindowEnds: (matchId: string) => `queue_window_ends_closing:{${matchId}}`,
  /** zset user_id → time of the fan's last presence in ms, for all fans in line. */
  seen: (matchId: string) => `queue_seen:{${matchId}}`,
  /** zset user_id → time (ms) from which a fan counts as away, because all connections are closed. */
  gone: (matchId: string) => `queue_gone:{${matchId}}`,
  /**
   * zsets user_id → join time of fans who are still in line. `away`: admission skipped them because they were not present.
   * `back`: they have been present again since.
   */
  away: (matchId: string) => `queue_away:{${matchId}}`,
  back: (matchId: string) => `queue_back:{${matchId}}`,
  /** hash user_id → time (ms) at which the fan was last told to be at the front. */
  called: (matchId: string) => `queue_called:{${matchId}}`,
  /** hash user_id → join time of the fan's latest queue entry that has ended. A receipt cannot restore it. */
  used: (matchId: string) => `queue_used:{${matchId}}`,
  /** stream: the join times of fans who left the line, or were restored into it; entries are numbered without gaps. */
  moves: (matchId: string) => `queue_moves:{${matchId}}`,
  /** stream: actions of operators on the queue. */
  audit: (matchId: string) => `queue_audit:{${matchId}}`,
  /** zset pod → time (ms) of its last heartbeat, for pods with connections to this match. */
  podBeats: (matchId: string) => `queue_pod_beats:{${matchId}}`,
  /** set of "user_id websocket_id": connections replaced by a newer one whose pod has not confirmed the close yet. */
  replaced: (matchId: string) => `queue_replaced:{${matchId}}`,
  /**
   * string: whether Redis has the state of the match. A number: yes, it is the generation of the state that the monolith sent last.
   * Otherwise `restoring G N`, `asked` or `no_queue`, and no request for the match is answered from Redis.
   */
  restored: (matchId: string) => `queue_restored:{${matchId}}`,
  /** set of the ids of matches with a queue. One key for the whole system; no script uses it. */
  matches: 'queue_matches',
  /** hash user_id → end of the blacklist entry in ms, '' for no end; field `revision`: see BLACKLIST_REVISION. One key for the system. */
  blacklist: 'queue_blacklist',
} as const;

/** Field of the hash `queueKeys.blacklist` that grows with every change. It cannot be a user id, because those are UUIDs. */
export const BLACKLIST_REVISION = 'revision';

/** Published when the blacklist has changed: processes that cache it must refresh. The message has no meaning. */
export const BLACKLIST_CHANNEL = 'queue_blacklist';

/** Tells all pods about a change of a match that their connected fans must receive: `{match_id, kind, user_id?, user_ids?, device_ids?}`. */
export const QUEUE_PODS_CHANNEL = 'queue_pods';
