import type { StaffRoute } from '../routes.ts';
import '../styles/staff.css';
import { OpsAuditPage } from './ops-audit-page.tsx';
import { OpsJobsPage } from './ops-jobs-page.tsx';
import { OpsPage } from './ops-page.tsx';
import { OpsQuotasPage } from './ops-quotas-page.tsx';
import { OpsWebhooksPage } from './ops-webhooks-page.tsx';
import { QuotaPage } from './quota-page.tsx';
import { QuotasPage } from './quotas-page.tsx';

/** The pages of operators and partners. They are one file for the browser: they share most of their parts, and few people load them. */
export function StaffPage({ route }: { route: StaffRoute }) {
  switch (route.page) {
    case 'quotas':
      return <QuotasPage />;
    case 'quota':
      return <QuotaPage key={route.quotaId} quotaId={route.quotaId} />;
    case 'ops':
      return <OpsPage chosenId={route.matchId} />;
    case 'ops-jobs':
      return <OpsJobsPage />;
    case 'ops-audit':
      return <OpsAuditPage />;
    case 'ops-webhooks':
      return <OpsWebhooksPage />;
    case 'ops-quotas':
      return <OpsQuotasPage key={route.matchId} matchId={route.matchId} />;
  }
}
