import type { QuotaMove } from '#contracts/quotas';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Icon } from './icon.tsx';

/** What a move is about: how many places, from where to where, who, when and why. */
export function OpsMoveFacts({ move, nameOf }: { move: QuotaMove; nameOf: (owner: string) => string }) {
  const { texts, format } = useStaffLanguage();
  const { ledger, pending, places } = texts.opsQuotas;
  const who = (actor: string) => (actor === 'system' ? ledger.system : actor);
  const at = format.dateTime(move.at);
  const approved = move.approved_by && ` · ${ledger.approvedBy(who(move.approved_by))}`;
  return (
    <>
      <p className="quota-move">
        <strong>{places(move.quantity, format.number(move.quantity))}</strong>: {nameOf(move.from)} <Icon name="to" />
        <span className="only-spoken">{ledger.to}</span> {nameOf(move.to)}
      </p>
      {move.rule && (
        <p>
          {pending.rule} <span lang="en">{move.rule}</span>
        </p>
      )}
      {move.kind === 'move' && (
        <p>
          {pending.reason} {move.reason}
        </p>
      )}
      <p className="fine-print">
        {move.status === 'pending'
          ? `${pending.askedBy(who(move.actor), at)}${move.expires_at ? ` · ${pending.ends(format.dateTime(move.expires_at))}` : ''}`
          : `${ledger.kinds[move.kind]} · ${at} · ${ledger.by(who(move.actor))}`}
        {approved}
      </p>
    </>
  );
}
