import type { AuditEntry } from '#contracts/audit';
import { runUnprepared } from '#platform/postgres/database';
import type { DataSource } from 'typeorm';
import { SEARCH_AUDIT_LOG, type AuditSearch } from './search-audit-log.sql.ts';

interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly roles: string[];
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string | null;
  readonly matchId: string | null;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
  readonly requestId: string;
  readonly address: string;
}

/** Reads the audit log. Its rows are written by `libs/platform/src/audit`. */
export class PostgresAuditLog {
  constructor(private readonly dataSource: DataSource) {}

  async search(search: AuditSearch): Promise<readonly AuditEntry[]> {
    return (await runUnprepared<AuditRow[]>(this.dataSource, SEARCH_AUDIT_LOG.with(search))).map(entryView);
  }
}

function entryView({ at, targetType, targetId, matchId, requestId, ...row }: AuditRow): AuditEntry {
  const target = { type: targetType, id: targetId };
  return { ...row, at: at.toISOString(), target, match_id: matchId, request_id: requestId };
}
