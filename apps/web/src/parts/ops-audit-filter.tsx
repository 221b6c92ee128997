import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { matchTitle } from '../text/match-title.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { type AuditFilterInput, auditQueryOf, emptyAuditFilter } from './audit-filter.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { Select } from './select.tsx';
import { useLoaded } from './use-loaded.ts';

interface OpsAuditFilterProps {
  onFind: (query: NonNullable<ReturnType<typeof auditQueryOf>>) => void;
}

/** The fields that restrict the audit log. It is searched on request only, because each search adds an entry to the log. */
export function OpsAuditFilter({ onFind }: OpsAuditFilterProps) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const matches = useLoaded((signal) => api.opsMatches(undefined, signal), 'matches');
  const [input, setInput] = useState<AuditFilterInput>(emptyAuditFilter);
  const [isChecked, setIsChecked] = useState(false);
  const audit = texts.opsAudit;
  const query = auditQueryOf(input);
  const change = (name: keyof AuditFilterInput) => (value: string) => setInput((previous) => ({ ...previous, [name]: value }));
  const find = (event: FormEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (query) onFind(query);
  };
  return (
    <form role="search" className="audit-filter" onSubmit={find} noValidate>
      <Select
        label={audit.match}
        value={input.matchId}
        all={audit.allMatches}
        options={(matches.value?.items ?? []).map((match) => [match.id, matchTitle(match)] as const)}
        onChange={change('matchId')}
        testId="audit-match"
      />
      <Select
        label={audit.action}
        value={input.action}
        all={audit.allActions}
        options={Object.entries(audit.actions)}
        onChange={change('action')}
        testId="audit-action"
      />
      <Field
        label={audit.actor}
        value={input.actor}
        onChange={change('actor')}
        maxLength={36}
        error={isChecked && !query ? audit.idFault : undefined}
        testId="audit-actor"
      />
      <Field label={audit.target} value={input.target} onChange={change('target')} maxLength={200} testId="audit-target" />
      <Field label={audit.since} type="datetime-local" value={input.since} onChange={change('since')} testId="audit-since" />
      <Field label={audit.until} type="datetime-local" value={input.until} onChange={change('until')} testId="audit-until" />
      <Button type="submit" tone="primary" testId="audit-find">
        {audit.find}
      </Button>
    </form>
  );
}
