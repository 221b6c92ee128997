import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Logger } from '#platform/logging/logger';
import { LOGGER } from '../../tokens.ts';
import { CallPassed } from '../application/call-passed.ts';
import { MoveLine } from '../application/move-line.ts';
import { LineMovement } from '../application/ports.ts';
import { nowMs } from './pod.ts';
import { WaitingRoomMetrics } from './waiting-room.metrics.ts';

/** A token or a window that becomes free is used within this, and a scheduled sale opens within it. */
const TICK_MS = 250;
/**
 * Nothing can become due where nobody is, but for who joins at a pod that dies in that moment, and has a turn within a second all
 * the same; past matches stay listed for ever.
 */
const QUIET_MS = 600;
/** How often we look for fans without a socket who have come forward; they are told of at most once a minute. */
const CALL_MS = 5000;
/** After a change at once, but a thousand joins in a second are answered by fifty rounds, not a thousand. */
const REST_MS = 20;

/**
 * When lines move: every quarter of a second, and right after anything that may have made room. All pods do this; a pod
 * that dies takes nothing with it.
 */
@Injectable()
export class AdmissionSchedule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly running = new Map<string, { again: boolean; done: Promise<void> }>();
  private readonly quietUntilMs = new Map<string, number>();
  private readonly calledAtMs = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private isAway = false;

  constructor(
    private readonly moveLine: MoveLine,
    private readonly callPassed: CallPassed,
    private readonly movement: LineMovement,
    private readonly metrics: WaitingRoomMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.tick(), TICK_MS);
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await Promise.all([...this.running.values()].map(({ done }) => done));
  }

  /** Something about this match changed: look at it now. Several calls while one runs become one more. */
  soon(matchId: string): void {
    if (this.stopped) return;
    const run = this.running.get(matchId);
    if (run) run.again = true;
    else this.running.set(matchId, { again: false, done: this.run(matchId) });
  }

  private async run(matchId: string): Promise<void> {
    try {
      const { granted, quiet } = await this.moveLine.runOnce(matchId);
      if (quiet) this.quietUntilMs.set(matchId, nowMs() + QUIET_MS);
      else this.quietUntilMs.delete(matchId);
      this.metrics.turnsGranted.inc(granted);
      if (!quiet && (this.calledAtMs.get(matchId) ?? -Infinity) + CALL_MS <= nowMs()) {
        this.calledAtMs.set(matchId, nowMs());
        await this.callPassed.runOnce(matchId);
      }
      this.noteRedis(undefined);
    } catch (error) {
      this.noteRedis(error);
    }
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const again = this.running.get(matchId)?.again;
    this.running.delete(matchId);
    if (again) this.soon(matchId);
  }

  private async tick(): Promise<void> {
    try {
      const now = nowMs();
      for (const matchId of await this.movement.matches()) {
        if ((this.quietUntilMs.get(matchId) ?? 0) <= now) this.soon(matchId);
      }
      // The monolith is asked again, once a second, until it has sent their state.
      for (const matchId of this.movement.matchesWithoutState()) this.soon(matchId);
    } catch (error) {
      this.noteRedis(error);
    }
  }

  /** Once when it goes and once when it is back, not four times a second. */
  private noteRedis(error: unknown): void {
    if (error !== undefined && !this.isAway) this.logger.error({ err: error }, 'lines stand still: Redis does not answer');
    if (error === undefined && this.isAway) this.logger.info('lines move again');
    this.isAway = error !== undefined;
  }
}
