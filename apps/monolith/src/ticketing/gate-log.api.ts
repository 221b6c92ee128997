import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';

/** Receives the scans that the event loader fetched from the gates. */
export abstract class GateLogApi {
  /** Records one scan. Throws `RequestRefused` if it is malformed. */
  abstract record(scan: unknown, effect: LoadedEffect): Promise<EffectOutcome>;
}
