import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';

/** For who brings the gates' logs. */
export abstract class GateLogApi {
  /** Throws `RequestRefused` for what is no scan. */
  abstract hear(scan: unknown, effect: LoadedEffect): Promise<EffectOutcome>;
}
