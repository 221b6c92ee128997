/**
 * The waiting room's Redis keys. The braces are literal: they are the cluster's hash tag, so that everything about one
 * match lives in one slot and one script can change it atomically.
 */
export const queueKeys = {
  /** zset user_id → join time in µs, strictly increasing. */
  line: (matchId: string) => `queue:{${matchId}}`,
  /** hash: total_size, processing_rate, created_at, status, and what admission counts. */
  meta: (matchId: string) => `queue_meta:{${matchId}}`,
  /** string {position, queue_token, websocket_id, devices}, 30 minutes. */
  session: (userId: string, matchId: string) => `queue_session:${userId}:{${matchId}}`,
  /** hash user_id → {expires_at, session_token}. */
  windows: (matchId: string) => `purchase_windows:{${matchId}}`,
  /** zset user_id → end of the window in ms, so that the next one to end is found without reading all. */
  windowEnds: (matchId: string) => `queue_window_ends:{${matchId}}`,
  /** string: the last word of a token that is over. While it lives, the session knows it. */
  token: (token: string, matchId: string) => `queue_token:${token}:{${matchId}}`,
  /** string: how the fan's last place or turn ended, for QUEUE_PERSISTENCE_SECONDS. */
  ended: (userId: string, matchId: string) => `queue_ended:${userId}:{${matchId}}`,
  /** stream: every event of the match in order, field `event` = the JSON that is also published. */
  events: (matchId: string) => `queue_events_log:{${matchId}}`,
  /** What a close renamed away in one step, until each fan's last word is written: line, windows and their ends. */
  closingLine: (matchId: string) => `queue_closing:{${matchId}}`,
  closingWindows: (matchId: string) => `purchase_windows_closing:{${matchId}}`,
  closingWindowEnds: (matchId: string) => `queue_window_ends_closing:{${matchId}}`,
  /** zset user_id → last sign of life in ms, of everybody in line. */
  seen: (matchId: string) => `queue_seen:{${matchId}}`,
  /** zset user_id → since when (ms) a fan whose connections have closed counts as away. */
  gone: (matchId: string) => `queue_gone:{${matchId}}`,
  /** zsets user_id → join time: passed by admission while away, and back again since. Both are still in the line. */
  away: (matchId: string) => `queue_away:{${matchId}}`,
  back: (matchId: string) => `queue_back:{${matchId}}`,
  /** hash user_id → when the fan was last called to the front, in ms. */
  called: (matchId: string) => `queue_called:{${matchId}}`,
  /** hash user_id → join time of the latest place that is over: what a receipt cannot restore any more. */
  used: (matchId: string) => `queue_used:{${matchId}}`,
  /** stream: who left the line, as join times; numbered without gaps. */
  moves: (matchId: string) => `queue_moves:{${matchId}}`,
  /** stream: what operators did to the queue. */
  audit: (matchId: string) => `queue_audit:{${matchId}}`,
  /** zset pod → when it last said that it lives, in ms, of the pods that hold connections to this match. */
  podBeats: (matchId: string) => `queue_pod_beats:{${matchId}}`,
  /** set of "user_id websocket_id": connections a newer one has replaced and whose pod has not said yet that they are closed. */
  replaced: (matchId: string) => `queue_replaced:{${matchId}}`,
  /**
   * string: what Redis knows of the match. A number (known; the generation of the state the monolith sent last), `restoring G N`,
   * `asked`, or `no_queue`. Without a number nothing is answered from this slot.
   */
  restored: (matchId: string) => `queue_restored:{${matchId}}`,
  /** set of match ids that have a queue (one key for the system, not part of any script). */
  matches: 'queue_matches',
  /** hash user_id → end of the entry in ms, '' for none; `revision` names the state of the list. One key for the system. */
  blacklist: 'queue_blacklist',
} as const;

/** The field of `queueKeys.blacklist` that grows with every change; no user id looks like it. */
export const BLACKLIST_REVISION = 'revision';

/** Published when the blacklist has changed: who keeps it in mind is to look again. What is said does not matter. */
export const BLACKLIST_CHANNEL = 'queue_blacklist';

/** Published when something about a match changed that every pod's sockets must hear: `{match_id, kind, user_id?, user_ids?, device_ids?}`. */
export const QUEUE_PODS_CHANNEL = 'queue_pods';
