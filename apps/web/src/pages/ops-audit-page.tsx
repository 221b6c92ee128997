import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import type { auditQueryOf } from '../parts/audit-filter.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { Loading, ProblemNotice } from '../parts/notice.tsx';
import { OpsAuditEntry } from '../parts/ops-audit-entry.tsx';
import { OpsAuditFilter } from '../parts/ops-audit-filter.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { RoleNeeded, useMay } from '../parts/role-needed.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { paths } from '../routes.ts';
import { useStaffLanguage } from '../text/staff-language.ts';

/** Who looks for older entries narrows the search instead. */
const maxPages = 10;

/** The audit log, for operators with the role `ops`. */
export function OpsAuditPage() {
  const { texts } = useStaffLanguage();
  const audit = texts.opsAudit;
  const mayRead = useMay('ops');
  const [search, setSearch] = useState<{ query: NonNullable<ReturnType<typeof auditQueryOf>>; number: number }>({
    query: {},
    number: 0,
  });
  return (
    <>
      <Link to={paths.ops()} className="back-link">
        <Icon name="back" />
        {audit.back}
      </Link>
      <PageTitle>{audit.title}</PageTitle>
      <p className="lead">{audit.intro}</p>
      <RoleNeeded access="ops" work="audit" />
      {mayRead && (
        <>
          <OpsAuditFilter onFind={(query) => setSearch(({ number }) => ({ query, number: number + 1 }))} />
          <FoundEntries key={search.number} query={search.query} />
        </>
      )}
    </>
  );
}

/** The entries of a search, newest first. Tells screen readers how many. */
function FoundEntries({ query }: { query: NonNullable<ReturnType<typeof auditQueryOf>> }) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const [pages, setPages] = useState(1);
  const { value, problem, reload } = useLoaded((signal) => api.opsAudit(query, pages, signal), String(pages));
  const audit = texts.opsAudit;
  return (
    <section aria-labelledby="audit-entries">
      <h2 id="audit-entries">{audit.entries}</h2>
      <p role="status" className="fine-print" data-testid="audit-found">
        {value && (value.items.length > 0 ? audit.found(value.items.length, value.isMore) : audit.none)}
      </p>
      {!value && <Loading problem={problem} onRetry={reload} />}
      {value && problem && <ProblemNotice problem={problem} />}
      <ul className="job-list">
        {value?.items.map((entry) => (
          <OpsAuditEntry key={entry.id} entry={entry} />
        ))}
      </ul>
      {value?.isMore && pages < maxPages && (
        <Button onClick={() => setPages(pages + 1)} testId="audit-more">
          {audit.more}
        </Button>
      )}
    </section>
  );
}
