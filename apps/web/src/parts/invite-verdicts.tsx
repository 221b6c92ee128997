import type { InviteAnswer } from '#contracts/invitations';
import { useStaffLanguage } from '../text/staff-language.ts';

type Verdict = InviteAnswer['items'][number];

/** How many rows of a list have each verdict. */
export function countVerdicts(items: readonly Verdict[]): Record<Verdict['status'], number> {
  const counts = { created: 0, duplicate: 0, refused: 0 };
  for (const { status } of items) counts[status] += 1;
  return counts;
}

interface InviteVerdictsProps {
  items: readonly Verdict[];
  /** The rows of the file as they are written. */
  rows: readonly string[];
  /** True if nobody was invited: then the verdicts say what would happen. */
  isPreview: boolean;
}

/** The verdict about each row of a list. */
export function InviteVerdicts({ items, rows, isPreview }: InviteVerdictsProps) {
  const { texts, format } = useStaffLanguage();
  const { list } = texts.quotas;
  const title = isPreview ? list.preview : list.sent;
  // The API counts the rows. If this page counts others, rows beside their verdicts would mislead.
  const hasContent = rows.length === items.length;
  return (
    <div className="invite-verdicts">
      <h3>{title}</h3>
      <p data-testid="invite-summary">{list.summary(isPreview, countVerdicts(items))}</p>
      {/* The table scrolls and has no buttons, so the keyboard reaches it by its frame (WCAG 2.1.1). */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="invite-table" role="group" aria-label={title} tabIndex={0}>
        <table data-testid="invite-verdicts">
          <thead>
            <tr>
              <th scope="col">{list.row}</th>
              <th scope="col">{list.verdict}</th>
              {hasContent && <th scope="col">{list.content}</th>}
            </tr>
          </thead>
          <tbody>
            {items.map(({ index, status, code, message }) => (
              <tr key={index} data-testid="invite-verdict" data-status={status}>
                <th scope="row">{format.number(index + 1)}</th>
                <td className={`invite-${status}`}>
                  {list.verdicts[status === 'created' && isPreview ? 'planned' : status]}
                  {code === 'QUOTA_EXCEEDED' && <small>{list.tooFew}</small>}
                  {code !== 'QUOTA_EXCEEDED' && message && <small lang="en">{message}</small>}
                </td>
                {hasContent && <td>{rows[index]}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
