import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { SharedCount } from '../application/shared-count.ts';
import { SignsOfLife } from '../application/signs-of-life.ts';
import { TellFans } from '../application/tell-fans.ts';

const PARTED_MS = 100;
const BEAT_MS = 1000;

/** What the pod says of its connections in time: which have closed, that it lives, and at the end that it does not. */
@Injectable()
export class CountingSchedule implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly signs: SignsOfLife,
    private readonly count: SharedCount,
    private readonly tellFans: TellFans,
  ) {}

  onApplicationBootstrap(): void {
    this.timers.push(
      setInterval(() => void this.signs.sayParted().catch(() => undefined), PARTED_MS),
      setInterval(() => void this.count.beat((replaced) => this.tellFans.endReplaced(replaced)), BEAT_MS),
    );
  }

  /** Before everybody is sent away (TellingSchedule): of those only the goodbye speaks, as they come back. */
  async onModuleDestroy(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await Promise.allSettled([this.signs.sayParted(), this.count.sayGoodbye()]);
  }
}
