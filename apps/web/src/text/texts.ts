import type { ProblemCode } from '../api/problem.ts';
import { problemTexts as english, type ProblemText } from './en-problems.ts';
import { problemTexts as croatian } from './hr-problems.ts';
import { invitationTexts } from './invitation-texts.ts';
import { lineTexts } from './line-texts.ts';
import { opsJobsTexts } from './ops-jobs-texts.ts';
import { opsQuotasTexts } from './ops-quotas-texts.ts';
import { opsTexts } from './ops-texts.ts';
import { purchaseTexts } from './purchase-texts.ts';
import { quotaTexts } from './quota-texts.ts';
import { shopTexts } from './shop-texts.ts';

/** Chooses the text of one language. Each text stands beside its translation, so that no language can miss one. */
export type Translate = <T>(english: T, croatian: T) => T;

const textsFor = (t: Translate) => ({
  ...shopTexts(t),
  ...lineTexts(t),
  ...purchaseTexts(t),
  invitation: invitationTexts(t),
  quotas: quotaTexts(t),
  ops: opsTexts(t),
  opsJobs: opsJobsTexts(t),
  opsQuotas: opsQuotasTexts(t),
  problems: t<Record<ProblemCode, ProblemText>>(english, croatian),
});

/** All texts of the page in one language. */
export type Texts = ReturnType<typeof textsFor>;

export type Language = 'hr' | 'en';

/** The texts of each language. */
export const languages: Record<Language, Texts> = { hr: textsFor((_, text) => text), en: textsFor((text) => text) };
