import type { RecordedChange } from '#application/recorded-change';
import type { DataSource } from 'typeorm';
import { newId } from '../ids.ts';
import type { CurrentAct } from '../logging/request-context.ts';
import { namedSql, type PreparedStatement } from '../postgres/named-sql.ts';
import { runUnprepared } from '../postgres/database.ts';
import type { PostgresTransaction } from '../postgres/transaction.ts';
import { auditedFields } from './audit-fields.ts';

/*
 * The only place that writes the table `audit_log`: one row for each call of an operator or partner that it records (CONTRACT §14). A
 * call that writes has its row in the transaction of its effect; a read has it before its answer is sent.
 */
const INSERT_ACT = namedSql<{
  readonly id: string;
  readonly actor: string;
  readonly roles: readonly string[];
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string | null;
  readonly matchId: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly requestId: string;
  readonly address: string;
}>(
  'insert-act',
  `insert into audit_log (id, actor, roles, action, target_type, target_id, match_id, before, after, request_id, address)
   values (:id, :actor, :roles::text[], :action, :targetType, :targetId, :matchId::uuid, :before::jsonb, :after::jsonb, :requestId, :address)`,
);

/** Adds the row of a call to its transaction, with what `recordChange` has handed over. If it cannot be written, the commit fails. */
export function addActWith(tx: PostgresTransaction, act: CurrentAct): Promise<void> {
  return tx.write(rowOf(act, tx.recordedChange));
}

/** Adds the row of a read, in a transaction of its own. */
export async function addRead(dataSource: DataSource, act: CurrentAct): Promise<void> {
  await runUnprepared(dataSource, rowOf(act, undefined));
}

function rowOf(act: CurrentAct, change: RecordedChange | undefined): PreparedStatement {
  const { actor, roles, action, requestId, address } = act;
  const target = change?.target ?? act.target;
  const matchId = change?.matchId ?? (target.type === 'match' ? target.id : null);
  const { before, after } = auditedFields(change ?? { before: null, after: null });
  return INSERT_ACT.with({
    ...{ id: newId(), actor, roles, action, targetType: target.type, targetId: target.id, matchId, requestId, address },
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
  });
}
