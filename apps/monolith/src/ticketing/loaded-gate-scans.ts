import type { EffectOutcome, LoadedEffect } from '#application/loaded-effect';
import { gateScan } from '#contracts/gate-scans';
import { RequestRefused } from '#platform/http/request-refused';
import type { RecordScan } from './record-scan.ts';
import { GateLogApi } from './gate-log.api.ts';

/** Validates the scans that the event loader fetched from the gates, and records them. */
export class LoadedGateScans extends GateLogApi {
  constructor(private readonly recordScan: RecordScan) {
    super();
  }

  async record(loaded: unknown, effect: LoadedEffect): Promise<EffectOutcome> {
    const parsed = gateScan.safeParse(loaded);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new RequestRefused('VALIDATION_FAILED', {
        detail: `Not a gate scan: ${issue?.path.join('.')} ${issue?.message}`,
      });
    }
    const { code, match_id: matchId, gate, scanned_at: scannedAt, admitted } = parsed.data;
    return this.recordScan.execute({ code, matchId, gate, scannedAt, admitted }, effect);
  }
}
