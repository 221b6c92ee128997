import type { Job } from '#contracts/jobs';
import { useEffect, useRef, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { Loading, ProblemNotice } from '../parts/notice.tsx';
import { OpsJobCard } from '../parts/ops-job-card.tsx';
import { OpsJobCounts } from '../parts/ops-job-counts.tsx';
import { OpsJobFilter } from '../parts/ops-job-filter.tsx';
import { OpsRetryAll } from '../parts/ops-retry-all.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { RoleNeeded, useMay } from '../parts/role-needed.tsx';
import { type JobFilter, useJobFilter } from '../parts/use-job-filter.ts';
import { useLoaded } from '../parts/use-loaded.ts';
import { paths } from '../routes.ts';
import { useStaffLanguage } from '../text/staff-language.ts';

const refreshMs = 5_000;
/** The page reads all its jobs again every few seconds, so it does not show older jobs without end: a search finds them. */
const maxPages = 10;

/** The operators' page of jobs: what waits, what has failed and why, and what can be done about it. */
export function OpsJobsPage() {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const counts = useLoaded((signal) => api.opsJobCounts(signal), 'counts', refreshMs);
  const { input, filter, change, isTemplateFaulty } = useJobFilter({ state: 'failed', queue: '', template: '', q: '' });
  const jobTexts = texts.opsJobs;
  return (
    <>
      <Link to={paths.ops()} className="back-link">
        <Icon name="back" />
        {jobTexts.back}
      </Link>
      <PageTitle>{jobTexts.title}</PageTitle>
      <p className="lead">{jobTexts.intro}</p>
      <section className="card job-overview" aria-label={jobTexts.counts.title}>
        <div className="ops-report-head">
          <h2>{jobTexts.counts.title}</h2>
          <span className="fine-print">{jobTexts.counts.refreshed}</span>
        </div>
        {counts.problem && <ProblemNotice problem={counts.problem} />}
        {!counts.value && !counts.problem && <Loading />}
        {counts.value && (
          <OpsJobCounts counts={counts.value.items} onShow={(queue, state) => change({ queue, state, template: '', q: '' })} />
        )}
      </section>
      <OpsJobFilter input={input} isTemplateFaulty={isTemplateFaulty} onChange={change} />
      <FoundJobs filter={filter} onChange={counts.reload} />
    </>
  );
}

/** The jobs that the filter finds. Tells screen readers how many, and what an action has done. */
function FoundJobs({ filter, onChange }: { filter: JobFilter; onChange: () => void }) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const key = JSON.stringify(filter);
  const [pages, setPages] = useState({ key, count: 1 });
  const pageCount = pages.key === key ? pages.count : 1;
  const { value, problem, reload } = useLoaded((signal) => api.opsJobs(filter, pageCount, signal), key, refreshMs);
  const [openJob, setOpenJob] = useState<string>();
  const [happened, setHappened] = useState<{ key: string; text: string }>();
  const heading = useRef<HTMLHeadingElement>(null);
  const mayChange = useMay('ops:sale');
  const { found } = texts.opsJobs;
  const nameOf = (job: Job) => `${job.queue} ${job.id}`;

  const onAct = (text?: string) => {
    reload();
    onChange();
    if (text === undefined) return;
    setHappened({ key, text });
    // The card of the job may disappear with the button that has the focus.
    heading.current?.focus({ preventScroll: true });
  };

  // The number is announced once for each filter, not each time the list is read again.
  const [announced, setAnnounced] = useState<{ key: string; text: string }>();
  useEffect(() => {
    if (value && announced?.key !== key)
      setAnnounced({ key, text: value.items.length > 0 ? found.shown(value.items.length, value.isMore) : '' });
  }, [value, key, announced, found]);

  const { state, ...others } = filter;
  const isUnfiltered = state === 'failed' && Object.keys(others).length === 0;
  return (
    <section className="job-found" aria-labelledby="found-jobs">
      <h2 id="found-jobs" ref={heading} tabIndex={-1}>
        {found.title}
      </h2>
      <p role="status" className="job-happened" data-testid="job-happened">
        {happened?.key === key ? happened.text : announced?.key === key ? announced.text : ''}
      </p>
      <RoleNeeded access="ops:sale" work="jobs" />
      {mayChange && (state === undefined || state === 'failed') && <OpsRetryAll key={key} filter={others} onDone={onAct} />}
      {problem && value && <ProblemNotice problem={problem} />}
      {!value && <Loading problem={problem} onRetry={reload} />}
      {value?.items.length === 0 && !value.isMore && (
        <p className="empty" role="status" data-testid="job-none">
          {isUnfiltered ? found.noneFailed : found.none}
        </p>
      )}
      <ul className="job-list">
        {value?.items.map((job) => (
          <OpsJobCard
            key={nameOf(job)}
            job={job}
            isOpen={openJob === nameOf(job)}
            onToggle={() => setOpenJob(openJob === nameOf(job) ? undefined : nameOf(job))}
            onChange={onAct}
          />
        ))}
      </ul>
      {value?.isMore && pageCount < maxPages && (
        <Button
          onClick={() => {
            setPages({ key, count: pageCount + 1 });
            reload();
          }}
          testId="job-more"
        >
          {found.more}
        </Button>
      )}
    </section>
  );
}
