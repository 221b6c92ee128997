import { DomainError } from '../shared/domain-error.ts';

/** A hold of a fan at one match that ended unpaid, in milliseconds since 1970. */
export interface UnpaidHold {
  readonly id: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** When a cooldown begins, and how long it is. */
export interface CooldownRules {
  /** After so many unpaid holds that lasted `minHoldMs`. */
  readonly after: number;
  readonly minHoldMs: number;
  readonly cooldownMs: number;
}

/** What the unpaid holds of a fan at one match mean for the fan's next hold. */
export interface UnpaidHolds {
  /** The end of the fan's last cooldown, if there was one. It may be over. */
  readonly cooldownEndsAtMs: number | undefined;
  /** The holds that may still count at a later hold. */
  readonly remaining: readonly UnpaidHold[];
  /** Set if a cooldown has begun: only holds that begin from this time on count again. */
  readonly countFromMs: number | undefined;
}

/** A fan without unpaid holds: the common case. */
export const NO_UNPAID_HOLDS: UnpaidHolds = { cooldownEndsAtMs: undefined, remaining: [], countFromMs: undefined };

const HOUR_MS = 3_600_000;
/** No hold counts as long if it was shorter than this, or than half of the usual time of a hold if that is shorter. */
const LONG_HOLD_MS = 60_000;
/**
 * Holds that share less time than this, and less than a tenth of the second one, follow one another. Otherwise accounts that hold each
 * other's seats again at their expiry, some milliseconds too early, would be counted half as often.
 */
const MIN_OVERLAP_MS = 1000;
/** So many unpaid holds within an hour begin a cooldown, however short they were. */
const MAX_UNPAID_HOLDS = 10;

/** The rules of CONTRACT §9 for these settings. Undefined: `after` is 0, which switches the cooldown off. */
export function cooldownRules(settings: {
  after: number;
  holdSeconds: number;
  cooldownSeconds: number;
}): CooldownRules | undefined {
  if (settings.after === 0) return undefined;
  const minHoldMs = Math.min(LONG_HOLD_MS, (settings.holdSeconds * 1000) / 2);
  return { after: settings.after, minHoldMs, cooldownMs: settings.cooldownSeconds * 1000 };
}

/**
 * Counts the unpaid holds of a fan at one match, in any order. Holds that overlap in time count as one: a hold counts only if it began
 * when the last counted one had ended. So a fan cannot hold seats for ever with holds that overlap, and three seats that expire
 * together count once. When one of the two counts is reached within an hour, a cooldown begins at the end of that hold, and both
 * counts start again at 0.
 */
export function countUnpaidHolds(holds: readonly UnpaidHold[], rules: CooldownRules, nowMs: number): UnpaidHolds {
  const long = new HoldCount(rules.after);
  const any = new HoldCount(MAX_UNPAID_HOLDS);
  let countFromMs: number | undefined;
  for (const hold of [...holds].sort((a, b) => a.toMs - b.toMs)) {
    if (countFromMs !== undefined && hold.fromMs < countFromMs) continue;
    const isLong = hold.toMs - hold.fromMs >= rules.minHoldMs;
    const isReached = [isLong && long.add(hold), any.add(hold)].includes(true);
    if (!isReached) continue;
    countFromMs = hold.toMs;
    long.restart();
    any.restart();
  }
  const remaining = holds.filter(({ fromMs, toMs }) => fromMs >= (countFromMs ?? fromMs) && toMs > nowMs - HOUR_MS);
  return { cooldownEndsAtMs: countFromMs === undefined ? undefined : countFromMs + rules.cooldownMs, remaining, countFromMs };
}

/** Throws during a cooldown. */
export function assertNoCooldown(cooldownEndsAtMs: number | undefined, nowMs: number): void {
  if (cooldownEndsAtMs === undefined || cooldownEndsAtMs <= nowMs) return;
  throw new DomainError(
    'HOLD_COOLDOWN',
    'You let several holds of this match expire or gave them back. Please wait before you hold seats again.',
    {
      until: new Date(Math.ceil(cooldownEndsAtMs)).toISOString(),
      retry_after_seconds: Math.max(1, Math.ceil((cooldownEndsAtMs - nowMs) / 1000)),
    },
  );
}

/** Ends of the counted holds of the last hour, oldest first. */
class HoldCount {
  private ends: number[] = [];
  private lastEndMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly limit: number) {}

  /** Counts a hold unless it overlaps the last counted one. True if the limit is reached. */
  add({ fromMs, toMs }: UnpaidHold): boolean {
    const overlapMs = this.lastEndMs - fromMs;
    if (overlapMs >= Math.min(MIN_OVERLAP_MS, (toMs - fromMs) / 10) && overlapMs > 0) return false;
    this.lastEndMs = toMs;
    this.ends = [...this.ends.filter((endMs) => endMs >= toMs - HOUR_MS), toMs];
    return this.ends.length >= this.limit;
  }

  restart(): void {
    this.ends = [];
  }
}
