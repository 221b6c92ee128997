import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { TaskDefinition } from '#platform/schedule/periodic-task';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { AnnouncePositions } from '../application/announce-positions.ts';
import { AdvanceLine } from '../application/advance-line.ts';
import { CoalescedRuns } from '../application/coalesced-runs.ts';
import { WaitingLines } from '../application/ports.ts';
import { nowMs } from './pod.ts';
import { WaitingRoomMetrics } from './waiting-room.metrics.ts';

const ADMISSION: TaskDefinition = {
  name: 'admission',
  // The longest delay until a possible turn is granted, and until a scheduled sale opens.
  everyMs: 250,
  does: 'Advances the line of each match: grants possible turns, opens a scheduled sale.',
};
/**
 * An idle match (empty line, no open window) is skipped for this long, because past matches stay in the list of matches for ever. A
 * join makes its pod grant turns at once. If this pod dies right after the join, another pod grants the turn after this pause: still
 * within a second.
 */
const IDLE_PAUSE_MS = 600;
/**
 * How often we check for fans without a connection who have passed position 1,000, 100 or 10. The event is sent at most once a
 * minute.
 */
const ANNOUNCE_INTERVAL_MS = 5000;
/** Pause after each run of one match. With it a thousand joins in a second cause at most fifty runs. */
const PAUSE_AFTER_RUN_MS = 20;

/**
 * Advances the line of each match every quarter of a second, and at once after each change that may have freed a window. Every pod
 * does so, so turns are granted even when a pod dies.
 */
@Injectable()
export class AdmissionSchedule implements OnModuleDestroy {
  private readonly runs = new CoalescedRuns();
  private readonly idleUntilMs = new Map<string, number>();
  private readonly announcedAtMs = new Map<string, number>();
  private isStopped = false;
  /** Why a line could not be advanced since the last run of the task. */
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly advanceLine: AdvanceLine,
    private readonly announcePositions: AnnouncePositions,
    private readonly lines: WaitingLines,
    private readonly metrics: WaitingRoomMetrics,
    private readonly tasks: PeriodicTasks,
  ) {
    tasks.add(ADMISSION, () => this.advanceAll());
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    await this.tasks.stop();
    await this.runs.ended();
  }

  /** Advances the line of this match now, after a change of its queue. Calls during a run lead to one more run. */
  runSoon(matchId: string): void {
    void this.runs.request(matchId, () => this.run(matchId));
  }

  private async run(matchId: string): Promise<void> {
    if (this.isStopped) return;
    try {
      const { granted, isIdle } = await this.advanceLine.runOnce(matchId);
      if (isIdle) this.idleUntilMs.set(matchId, nowMs() + IDLE_PAUSE_MS);
      else this.idleUntilMs.delete(matchId);
      this.metrics.turnsGranted.inc(granted);
      if (!isIdle && (this.announcedAtMs.get(matchId) ?? -Infinity) + ANNOUNCE_INTERVAL_MS <= nowMs()) {
        this.announcedAtMs.set(matchId, nowMs());
        await this.announcePositions.runOnce(matchId);
      }
    } catch (error) {
      this.failure = { error };
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_AFTER_RUN_MS));
  }

  /** Starts a run for each line. Fails if lines could not be advanced since the last call, so that the outage is logged. */
  private async advanceAll(): Promise<void> {
    const { failure } = this;
    this.failure = undefined;
    const now = nowMs();
    for (const matchId of await this.lines.matches()) {
      if ((this.idleUntilMs.get(matchId) ?? 0) <= now) this.runSoon(matchId);
    }
    // Each run asks the monolith for the missing state (at most once a second), until the monolith has sent it.
    for (const matchId of this.lines.matchesWithoutState()) this.runSoon(matchId);
    if (failure) throw failure.error;
  }
}
