import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Loading, ProblemNotice } from './notice.tsx';
import { OpsMoveFacts } from './ops-move-facts.tsx';
import { useLoaded } from './use-loaded.ts';

interface OpsQuotaLedgerProps {
  matchId: string;
  nameOf: (owner: string) => string;
  /** Grows with each change that the operator makes: the ledger is read again. */
  version: number;
}

/** All moves of the match, a page of a hundred at a time. */
export function OpsQuotaLedger({ matchId, nameOf, version }: OpsQuotaLedgerProps) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const [pages, setPages] = useState(1);
  const key = `${matchId} ${version} ${pages}`;
  const loaded = useLoaded((signal) => api.opsMoves(matchId, 'done', pages, signal), key);
  // The list stays on the page while more of it is read.
  const [shown, setShown] = useState(loaded.value);
  if (loaded.value && loaded.value !== shown) setShown(loaded.value);
  const { ledger } = texts.opsQuotas;
  return (
    <section className="card quota-section" aria-labelledby="quota-ledger" data-testid="quota-ledger">
      <h2 id="quota-ledger">{ledger.title}</h2>
      <p className="fine-print">{ledger.intro}</p>
      {!shown && <Loading problem={loaded.problem} onRetry={loaded.reload} />}
      {shown && loaded.problem && <ProblemNotice problem={loaded.problem} />}
      {shown?.items.length === 0 && <p>{ledger.none}</p>}
      {shown && shown.items.length > 0 && (
        <ol className="quota-moves">
          {shown.items.map((move) => (
            <li key={move.id} data-testid="ledger-row">
              <OpsMoveFacts move={move} nameOf={nameOf} />
            </li>
          ))}
        </ol>
      )}
      {shown?.isMore && (
        <>
          <p role="status">{ledger.shown(format.number(shown.items.length))}</p>
          <Button onClick={() => setPages(pages + 1)} testId="ledger-more">
            {ledger.more}
          </Button>
        </>
      )}
    </section>
  );
}
