import { useLanguage } from './language.tsx';
import { opsAuditTexts } from './ops-audit-texts.ts';
import { opsJobsTexts } from './ops-jobs-texts.ts';
import { opsQuotasTexts } from './ops-quotas-texts.ts';
import { opsTexts } from './ops-texts.ts';
import { opsWebhooksTexts } from './ops-webhooks-texts.ts';
import { quotaTexts } from './quota-texts.ts';
import { roleTexts } from './role-texts.ts';
import { type Language, languages, type Texts, type Translate } from './texts.ts';

// Only the pages of operators and partners may import this file: with it their texts would come into the script that each fan loads.

const staffTextsFor = (t: Translate) => ({
  quotas: quotaTexts(t),
  ops: opsTexts(t),
  opsAudit: opsAuditTexts(t),
  opsJobs: opsJobsTexts(t),
  opsQuotas: opsQuotasTexts(t),
  opsWebhooks: opsWebhooksTexts(t),
  roles: roleTexts(t),
});

/** The texts of all pages, also of those for operators and partners, in one language. */
export type StaffTexts = Texts & ReturnType<typeof staffTextsFor>;

/** The texts of each language. */
export const staffLanguages: Record<Language, StaffTexts> = {
  hr: { ...languages.hr, ...staffTextsFor((_, text) => text) },
  en: { ...languages.en, ...staffTextsFor((text) => text) },
};

/** The language as `useLanguage` gives it, with the texts of the pages of operators and partners. */
export function useStaffLanguage() {
  const spoken = useLanguage();
  return { ...spoken, texts: staffLanguages[spoken.language] };
}
