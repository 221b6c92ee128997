import type { Job } from '#contracts/jobs';
import { useId } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button, ConfirmButton } from './button.tsx';
import { ProblemNotice } from './notice.tsx';
import { useMay } from './role-needed.tsx';
import { useAction } from './use-action.ts';

interface OpsJobCardProps {
  job: Job;
  isOpen: boolean;
  onToggle: () => void;
  /** Called after a retry or drop, with what happened; without a text when it was refused. */
  onChange: (happened?: string) => void;
}

/** A job of the list. An opened card has its attempts and its content, and the buttons that its state allows. */
export function OpsJobCard({ job, isOpen, onToggle, onChange }: OpsJobCardProps) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const mayChange = useMay('ops:sale');
  const id = useId();
  const jobTexts = texts.opsJobs;
  const [last] = job.attempts;

  const act = async (action: () => Promise<unknown>, happened: string) => {
    const isDone = await run(action);
    onChange(isDone ? happened : undefined);
  };

  return (
    <li className="card job" data-testid="job" data-job-id={job.id} data-state={job.state}>
      <h3>
        <button type="button" className="job-name" aria-expanded={isOpen} aria-controls={`${id}-details`} onClick={onToggle}>
          <span>
            {job.template}
            <small>
              {jobTexts.queues[job.queue]} · {format.dateTime(job.created_at)}
            </small>
            {last && <small className="job-error">{last.error}</small>}
          </span>
          <span className={`badge badge-job-${job.state}`}>{jobTexts.states[job.state]}</span>
        </button>
      </h3>
      <div id={`${id}-details`} className="job-details" hidden={!isOpen}>
        {isOpen && (
          <>
            {problem && <ProblemNotice problem={problem} />}
            <JobFacts job={job} />
            <div className="button-row">
              {mayChange && job.state === 'failed' && (
                <Button
                  tone="primary"
                  disabled={busy}
                  onClick={() => void act(() => api.opsRetryJob(job.id), jobTexts.retried(job.template))}
                  testId="job-retry"
                >
                  {jobTexts.retry}
                </Button>
              )}
              {mayChange && job.state !== 'active' && job.state !== 'completed' && (
                <ConfirmButton
                  texts={jobTexts.drop}
                  disabled={busy}
                  onConfirm={() => void act(() => api.opsDropJob(job.id), jobTexts.dropped(job.template))}
                  testId="job-drop"
                />
              )}
            </div>
          </>
        )}
      </div>
    </li>
  );
}

function JobFacts({ job }: { job: Job }) {
  const { texts, format } = useStaffLanguage();
  const jobTexts = texts.opsJobs;
  const timeOf = (iso: string) => `${format.dateTime(iso)} (${format.clock(iso)})`;
  return (
    <>
      <dl className="job-facts">
        <dt>{jobTexts.job.id}</dt>
        <dd>
          <code>{job.id}</code>
        </dd>
        <dt>{jobTexts.job.created}</dt>
        <dd>{timeOf(job.created_at)}</dd>
        <dt>{jobTexts.job.transport}</dt>
        <dd>{job.transport === 'redis' ? 'Redis' : 'PostgreSQL'}</dd>
      </dl>
      <h4>{jobTexts.job.attempts}</h4>
      {job.attempts.length === 0 && <p className="fine-print">{jobTexts.job.noAttempts}</p>}
      {job.attempts.length > 0 && (
        <ol className="job-attempts" data-testid="job-attempts">
          {job.attempts.map(({ at, error }, index) => (
            <li key={index}>
              <span className="fine-print">{at ? timeOf(at) : jobTexts.job.unknownTime}</span>
              <code>{error}</code>
            </li>
          ))}
        </ol>
      )}
      {job.interventions.length > 0 && (
        <>
          <h4>{jobTexts.job.interventions}</h4>
          <ul className="job-attempts">
            {job.interventions.map(({ action, by, at }) => (
              <li key={at}>{jobTexts.job.actions[action](by, timeOf(at))}</li>
            ))}
          </ul>
        </>
      )}
      <h4>{jobTexts.job.payload}</h4>
      <pre className="job-payload" data-testid="job-payload">
        {JSON.stringify(job.payload, null, 2)}
      </pre>
    </>
  );
}
