import type { OpsMatch } from '#contracts/matches';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';

/** The switch of operators for transfers: whether fans may give tickets of the match to each other. */
export function OpsTransfers({ match, onChange }: { match: OpsMatch; onChange: () => void }) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const isLocked = match.transfers === 'locked';
  const change = async () => {
    if (await run(() => api.opsChangeMatch(match.id, { transfers: isLocked ? 'allowed' : 'locked' }))) onChange();
  };
  return (
    <section className="ops-sale" aria-label={texts.ops.transfers.title}>
      <h3>{texts.ops.transfers.title}</h3>
      <p data-testid="ops-transfers" data-transfers={match.transfers} role="status">
        {texts.ops.transfers[match.transfers]}
      </p>
      {problem && <ProblemNotice problem={problem} />}
      <Button onClick={() => void change()} disabled={busy} testId="ops-transfers-switch">
        {isLocked ? texts.ops.transfers.allow : texts.ops.transfers.lock}
      </Button>
    </section>
  );
}
