import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { Loading, ProblemNotice } from '../parts/notice.tsx';
import { OpsWebhookCard } from '../parts/ops-webhook-card.tsx';
import { OpsWebhookForm } from '../parts/ops-webhook-form.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { RoleNeeded, useMay } from '../parts/role-needed.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { paths } from '../routes.ts';
import { useStaffLanguage } from '../text/staff-language.ts';

const refreshMs = 5_000;

/** The webhooks of partners, for operators with the role `ops`. */
export function OpsWebhooksPage() {
  const { texts } = useStaffLanguage();
  const webhooks = texts.opsWebhooks;
  return (
    <>
      <Link to={paths.ops()} className="back-link">
        <Icon name="back" />
        {webhooks.back}
      </Link>
      <PageTitle>{webhooks.title}</PageTitle>
      <p className="lead">{webhooks.intro}</p>
      <RoleNeeded access="ops" work="webhooks" />
      {useMay('ops') && <Webhooks />}
    </>
  );
}

function Webhooks() {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const { value, problem, reload } = useLoaded((signal) => api.opsWebhooks(signal), 'webhooks', refreshMs);
  const [openId, setOpenId] = useState<string>();
  return (
    <>
      <OpsWebhookForm onAdded={reload} />
      {value && problem && <ProblemNotice problem={problem} />}
      {!value && <Loading problem={problem} onRetry={reload} />}
      {value?.items.length === 0 && <p className="empty">{texts.opsWebhooks.none}</p>}
      <ul className="job-list">
        {value?.items.map((webhook) => (
          <OpsWebhookCard
            key={webhook.id}
            webhook={webhook}
            isOpen={webhook.id === openId}
            onToggle={() => setOpenId(webhook.id === openId ? undefined : webhook.id)}
            onChange={reload}
          />
        ))}
      </ul>
    </>
  );
}
