import { paths } from '../routes.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Link } from './link.tsx';
import { useMay } from './role-needed.tsx';

/** Says after an act where it is recorded: by its name in the audit log, with a link for those who may read the log. */
export function OpsRecorded({ action }: { action: string }) {
  const { texts } = useStaffLanguage();
  const mayRead = useMay('ops');
  const text = texts.ops.recorded(texts.opsAudit.actions[action] ?? action);
  return (
    <p className="fine-print" data-testid="ops-recorded">
      {text}{' '}
      {mayRead && (
        <Link to={paths.opsAudit} testId="ops-recorded-link">
          {texts.opsAudit.link}
        </Link>
      )}
    </p>
  );
}
