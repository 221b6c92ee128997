import { namedSql } from '#platform/postgres/named-sql';

/*
 * The table `push_progress`: one row for each push job, a job that sends one push to many devices. `done` has the indexes of the
 * devices that need no request any more, `holder` is the random id of the claim under which a worker sends. Each statement is a
 * transaction of its own, in one round trip.
 */

interface ClaimParameters {
  readonly messageId: string;
  readonly broadcastId: string | null;
  readonly devices: number;
  readonly holder: string;
  readonly lockSeconds: number;
}

/** The result row of CLAIM_PUSH: a push job that was claimed. */
export interface ClaimedPush {
  /** Indexes of the devices that need no request any more. */
  readonly done: readonly number[];
  /** True if the job had an earlier claim whose lock has expired. Some pushes of that claim may be sent twice. */
  readonly was_abandoned: boolean;
}

/**
 * Claims a push job. Guarantee: a job has at most one claim at a time. It returns no row when the job is finished, or when it has
 * another claim whose lock has not expired.
 */
export const CLAIM_PUSH = namedSql<ClaimParameters>(
  'claim-push',
  `
  insert into push_progress (message_id, broadcast_id, devices, holder, claimed_at)
  values (:messageId, :broadcastId, :devices, :holder, clock_timestamp())
  on conflict (message_id) do update set holder = excluded.holder, claimed_at = clock_timestamp()
  where push_progress.finished_at is null
    and (push_progress.holder is null or push_progress.claimed_at < clock_timestamp() - make_interval(secs => :lockSeconds))
  returning done, coalesce(old.holder is not null, false) as was_abandoned`,
);

/** Reads whether a push job is finished. Returns no row for a job that was never claimed. */
export const IS_PUSH_FINISHED = namedSql<{ readonly messageId: string }>(
  'is-push-finished',
  'select finished_at is not null as finished from push_progress where message_id = :messageId',
);

interface ProgressParameters {
  readonly messageId: string;
  readonly holder: string;
  /**
   * Indexes of devices, as an array in PostgreSQL's text form. The driver would write the same text, but more slowly, because it
   * checks each number for quotes.
   */
  readonly done: string;
  readonly dead: number;
  readonly refused: number;
  readonly next: 'continue' | 'finish' | 'release';
}

/**
 * Records the results of requests, even when another claim has replaced the caller's claim `holder`, because the requests were
 * sent. `continue` renews and `release` ends only the caller's own claim; `finish` ends the job, whatever claim it has. The
 * result `ours` says whether the job still had the caller's claim.
 */
export const RECORD_PUSH_PROGRESS = namedSql<ProgressParameters>(
  'record-push-progress',
  `
  update push_progress set
    -- Each index is added once, although two claims may record the same device.
    done = case when done = '{}' then :done::smallint[]
                else done || array(select unnest(:done::smallint[]) except select unnest(done)) end,
    dead = dead + :dead, refused = refused + :refused,
    finished_at = case when :next = 'finish' then clock_timestamp() else finished_at end,
    -- Progress renews the lock of the caller's claim.
    claimed_at = case when holder = :holder then clock_timestamp() else claimed_at end,
    -- The caller's claim continues or ends. The claim of another worker does not change.
    holder = case when :next = 'continue' or holder <> :holder then holder end
  where message_id = :messageId returning old.holder = :holder as ours`,
);
