import type { AuditEntry } from '#contracts/audit';
import { useStaffLanguage } from '../text/staff-language.ts';
import { changedFields } from './audit-filter.ts';

/** An entry of the audit log: who did what, and the old and new values side by side. */
export function OpsAuditEntry({ entry }: { entry: AuditEntry }) {
  const { texts, format } = useStaffLanguage();
  const audit = texts.opsAudit;
  const action = audit.actions[entry.action] ?? entry.action;
  const fields = changedFields(entry);
  return (
    <li className="card audit-entry" data-testid="audit-entry" data-action={entry.action}>
      <h3>
        {action}{' '}
        <small>
          <time dateTime={entry.at}>
            {format.dateTime(entry.at)} ({format.clock(entry.at)})
          </time>
        </small>
      </h3>
      <dl className="job-facts">
        <dt>{audit.by}</dt>
        <dd>
          <code>{entry.actor}</code> ({audit.roles}: {entry.roles.join(', ')})
        </dd>
        <dt>{audit.about}</dt>
        <dd>
          {audit.targets[entry.target.type] ?? entry.target.type} {entry.target.id && <code>{entry.target.id}</code>}
        </dd>
        <dt>{audit.request}</dt>
        <dd>
          <code>{entry.request_id}</code> · {audit.address}: <code>{entry.address}</code>
        </dd>
      </dl>
      {fields.length > 0 && (
        // A table with long values scrolls inside of its card; the keyboard can scroll it too.
        <div className="audit-values" role="region" aria-label={audit.changes(action)} tabIndex={0}>
          <table data-testid="audit-values">
            <thead>
              <tr>
                <th scope="col">{audit.field}</th>
                <th scope="col">{audit.before}</th>
                <th scope="col">{audit.after}</th>
              </tr>
            </thead>
            <tbody>
              {fields.map(({ name, before, after }) => (
                <tr key={name}>
                  <th scope="row">
                    <code>{name}</code>
                  </th>
                  <td>{before ?? '–'}</td>
                  <td>{after ?? '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </li>
  );
}
