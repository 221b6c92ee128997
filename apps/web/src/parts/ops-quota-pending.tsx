import type { QuotaMove } from '#contracts/quotas';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { ConfirmButton } from './button.tsx';
import { Loading, ProblemNotice } from './notice.tsx';
import { OpsMoveFacts } from './ops-move-facts.tsx';
import { useMay } from './role-needed.tsx';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

const refreshMs = 5_000;
/** More requests than these wait at the same time only by mistake. */
const maxPages = 5;

interface OpsQuotaPendingProps {
  matchId: string;
  nameOf: (owner: string) => string;
  /** Called after a decision, with what happened; without a text when it was refused. */
  onChange: (happened?: string) => void;
}

/** The moves that wait for a second operator. */
export function OpsQuotaPending({ matchId, nameOf, onChange }: OpsQuotaPendingProps) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const load = (signal: AbortSignal) => api.opsMoves(matchId, 'pending', maxPages, signal);
  const { value, problem, reload } = useLoaded(load, matchId, refreshMs);
  const { pending } = texts.opsQuotas;
  const onDecided = (happened?: string) => {
    reload();
    onChange(happened);
  };
  return (
    <section className="card quota-section" aria-labelledby="quota-pending" data-testid="quota-pending">
      <h2 id="quota-pending">{pending.title}</h2>
      {!value && <Loading problem={problem} onRetry={reload} />}
      {value && problem && <ProblemNotice problem={problem} />}
      {value?.items.length === 0 && <p className="fine-print">{pending.none}</p>}
      {value && value.items.length > 0 && (
        <ul className="quota-moves">
          {value.items.map((move) => (
            <PendingMove key={move.id} move={move} nameOf={nameOf} onDecided={onDecided} />
          ))}
        </ul>
      )}
    </section>
  );
}

interface PendingMoveProps {
  move: QuotaMove;
  nameOf: (owner: string) => string;
  onDecided: (happened?: string) => void;
}

function PendingMove({ move, nameOf, onDecided }: PendingMoveProps) {
  const { texts } = useStaffLanguage();
  const { api, caller } = useAppServices();
  const mayDecide = useMay('ops:sale');
  const { busy, problem, run } = useAction();
  const { pending } = texts.opsQuotas;
  const decide = async (decision: () => Promise<unknown>, happened: string) =>
    onDecided((await run(decision)) ? happened : undefined);
  return (
    <li data-testid="pending-move" data-move-id={move.id}>
      <OpsMoveFacts move={move} nameOf={nameOf} />
      {problem && <ProblemNotice problem={problem} />}
      {move.actor === caller.fanId ? (
        <p className="fine-print" data-testid="pending-own">
          {pending.own}
        </p>
      ) : (
        mayDecide && (
          <div className="button-row">
            <ConfirmButton
              texts={pending.approve}
              tone="primary"
              disabled={busy}
              onConfirm={() => void decide(() => api.opsApproveMove(move.id), pending.approved)}
              testId="move-approve"
            />
            <ConfirmButton
              texts={pending.reject}
              disabled={busy}
              onConfirm={() => void decide(() => api.opsRejectMove(move.id), pending.rejected)}
              testId="move-reject"
            />
          </div>
        )
      )}
    </li>
  );
}
