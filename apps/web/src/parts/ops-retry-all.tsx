import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';
import type { JobFilter } from './use-job-filter.ts';

interface OpsRetryAllProps {
  filter: Omit<JobFilter, 'state'>;
  /** Called after the retry, with what happened. */
  onDone: (happened: string) => void;
}

/** Retries all failed jobs of the filter. Before, it counts them with a dry run and asks. */
export function OpsRetryAll({ filter, onDone }: OpsRetryAllProps) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const [count, setCount] = useState<number>();
  const [isCancelled, setIsCancelled] = useState(false);
  const { retryAll } = texts.opsJobs;

  const ask = () => run(async () => setCount((await api.opsRetryJobs({ ...filter, dry_run: true })).count));
  const retry = () =>
    run(async () => {
      const retried = await api.opsRetryJobs(filter);
      setCount(undefined);
      onDone(retryAll.done(retried.count));
    });
  const cancel = () => {
    setCount(undefined);
    setIsCancelled(true);
  };

  return (
    <div className="job-retry-all">
      {problem && <ProblemNotice problem={problem} />}
      {count === 0 && <Notice tone="info">{retryAll.nothing}</Notice>}
      {count ? (
        <div className="confirm" role="group" aria-label={retryAll.question(count)}>
          <p data-testid="job-retry-all-question">{retryAll.question(count)}</p>
          <div className="button-row">
            <Button tone="primary" disabled={busy} autoFocus onClick={() => void retry()} testId="job-retry-all-yes">
              {retryAll.yes}
            </Button>
            <Button onClick={cancel}>{retryAll.no}</Button>
          </div>
        </div>
      ) : (
        <Button disabled={busy} autoFocus={isCancelled} onClick={() => void ask()} testId="job-retry-all">
          {retryAll.label}
        </Button>
      )}
    </div>
  );
}
