import { namedSql } from '#platform/postgres/named-sql';

/*
 * The table `push_progress`: one row for each push job. `done` has the indexes of the devices that need no request any more,
 * `holder` is the worker's claim. Each statement is a transaction of its own, in one round trip.
 */

interface ClaimParameters {
  readonly messageId: string;
  readonly broadcastId: string | null;
  readonly devices: number;
  readonly holder: string;
  readonly lockSeconds: number;
}

export interface ClaimedPush {
  readonly done: readonly number[];
  /** Another claim had the job, and its lock expired: some of its pushes may be sent twice. */
  readonly was_abandoned: boolean;
}

/**
 * Claims a job. Guarantee: one claim at a time. It returns no row when the job is finished, or when another claim has it and its
 * lock has not expired.
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

export const IS_PUSH_FINISHED = namedSql<{ readonly messageId: string }>(
  'is-push-finished',
  'select finished_at is not null as finished from push_progress where message_id = :messageId',
);

interface ProgressParameters {
  readonly messageId: string;
  readonly holder: string;
  /** An array in PostgreSQL's text form. The driver would write the same text, but more slowly: it checks each number for quotes. */
  readonly done: string;
  readonly dead: number;
  readonly refused: number;
  readonly next: 'continue' | 'finish' | 'release';
}

/**
 * Records progress, even when another claim has replaced ours, because it is true. Only our own claim is renewed or ended by
 * `continue` and `release`; `finish` ends the job for everybody. `ours` says whether the claim was still ours.
 */
export const RECORD_PUSH_PROGRESS = namedSql<ProgressParameters>(
  'record-push-progress',
  `
  update push_progress set
    -- Each index once, although two claims may record the same device.
    done = case when done = '{}' then :done::smallint[]
                else done || array(select unnest(:done::smallint[]) except select unnest(done)) end,
    dead = dead + :dead, refused = refused + :refused,
    finished_at = case when :next = 'finish' then clock_timestamp() else finished_at end,
    -- Progress renews our lock.
    claimed_at = case when holder = :holder then clock_timestamp() else claimed_at end,
    -- Our claim goes on, or ends. Another claim stays.
    holder = case when :next = 'continue' or holder <> :holder then holder end
  where message_id = :messageId returning old.holder = :holder as ours`,
);
