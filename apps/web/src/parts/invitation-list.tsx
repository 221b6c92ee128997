import { type RefObject, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { InvitationCard } from './invitation-card.tsx';
import { Loading, ProblemNotice } from './notice.tsx';
import { useLoaded } from './use-loaded.ts';

const refreshMs = 10_000;

interface InvitationListProps {
  quotaId: string;
  /** How often the partner has changed something: the list is read again after each change. */
  changes: number;
  happened: string;
  heading: RefObject<HTMLHeadingElement | null>;
  onChange: (happened?: string) => void;
}

/** The invitations of a quota. Tells screen readers what an action has done. */
export function InvitationList({ quotaId, changes, happened, heading, onChange }: InvitationListProps) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const [pages, setPages] = useState(1);
  const { value, problem, reload } = useLoaded(
    (signal) => api.invitations(quotaId, pages, signal),
    `${quotaId} ${pages} ${changes}`,
    refreshMs,
  );
  const [shown, setShown] = useState(value);
  if (value && value !== shown) setShown(value);
  const listTexts = texts.quotas.invitations;
  const onAct = (text?: string) => {
    onChange(text);
    // The button that had the focus is gone, also after a refusal.
    heading.current?.focus({ preventScroll: true });
  };
  return (
    <section className="invitations" aria-labelledby="invitations">
      <div className="ops-report-head">
        <h2 id="invitations" ref={heading} tabIndex={-1}>
          {listTexts.title}
        </h2>
        <span className="fine-print">{listTexts.refreshed}</span>
      </div>
      <p role="status" className="job-happened" data-testid="invitation-happened">
        {happened}
      </p>
      {problem && shown && <ProblemNotice problem={problem} />}
      {!shown && <Loading problem={problem} onRetry={reload} />}
      {shown?.items.length === 0 && <p className="empty">{listTexts.none}</p>}
      {shown && shown.items.length > 0 && (
        <p className="fine-print" data-testid="invitation-count">
          {listTexts.shown(shown.items.length, shown.isMore)}
        </p>
      )}
      <ul className="invitation-list">
        {shown?.items.map((invitation) => (
          <InvitationCard key={invitation.id} invitation={invitation} onChange={onAct} />
        ))}
      </ul>
      {shown?.isMore && (
        <Button onClick={() => setPages(pages + 1)} testId="invitation-more">
          {listTexts.more}
        </Button>
      )}
    </section>
  );
}
