import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Logger } from '#platform/logging/logger';
import { LOGGER } from '../../tokens.ts';
import { AnnouncePositions } from '../application/announce-positions.ts';
import { AdvanceLine } from '../application/advance-line.ts';
import { WaitingLines } from '../application/ports.ts';
import { nowMs } from './pod.ts';
import { WaitingRoomMetrics } from './waiting-room.metrics.ts';

/** How often every line is checked: the longest delay until a possible turn is granted, and until a scheduled sale opens. */
const TICK_MS = 250;
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
export class AdmissionSchedule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly running = new Map<string, { runAgain: boolean; done: Promise<void> }>();
  private readonly idleUntilMs = new Map<string, number>();
  private readonly announcedAtMs = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private isRedisDown = false;

  constructor(
    private readonly advanceLine: AdvanceLine,
    private readonly announcePositions: AnnouncePositions,
    private readonly lines: WaitingLines,
    private readonly metrics: WaitingRoomMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.tick(), TICK_MS);
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.timer);
    await Promise.all([...this.running.values()].map(({ done }) => done));
  }

  /** Advances the line of this match now, after a change of its queue. Calls during a run lead to one more run. */
  runSoon(matchId: string): void {
    if (this.isStopped) return;
    const run = this.running.get(matchId);
    if (run) run.runAgain = true;
    else this.running.set(matchId, { runAgain: false, done: this.run(matchId) });
  }

  private async run(matchId: string): Promise<void> {
    try {
      const { granted, isIdle } = await this.advanceLine.runOnce(matchId);
      if (isIdle) this.idleUntilMs.set(matchId, nowMs() + IDLE_PAUSE_MS);
      else this.idleUntilMs.delete(matchId);
      this.metrics.turnsGranted.inc(granted);
      if (!isIdle && (this.announcedAtMs.get(matchId) ?? -Infinity) + ANNOUNCE_INTERVAL_MS <= nowMs()) {
        this.announcedAtMs.set(matchId, nowMs());
        await this.announcePositions.runOnce(matchId);
      }
      this.noteRedis(undefined);
    } catch (error) {
      this.noteRedis(error);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_AFTER_RUN_MS));
    const runAgain = this.running.get(matchId)?.runAgain;
    this.running.delete(matchId);
    if (runAgain) this.runSoon(matchId);
  }

  private async tick(): Promise<void> {
    try {
      const now = nowMs();
      for (const matchId of await this.lines.matches()) {
        if ((this.idleUntilMs.get(matchId) ?? 0) <= now) this.runSoon(matchId);
      }
      // Each run asks the monolith for the missing state (at most once a second), until the monolith has sent it.
      for (const matchId of this.lines.matchesWithoutState()) this.runSoon(matchId);
    } catch (error) {
      this.noteRedis(error);
    }
  }

  /** Logs an outage once at its start and once at its end, not four times a second. */
  private noteRedis(error: unknown): void {
    if (error !== undefined && !this.isRedisDown)
      this.logger.error({ err: error }, 'no turns are granted: Redis does not answer');
    if (error === undefined && this.isRedisDown) this.logger.info('turns are granted again');
    this.isRedisDown = error !== undefined;
  }
}
