import type { ProblemCode } from '../api/problem.ts';
import { accountTexts } from './account-texts.ts';
import { problemTexts as english, type ProblemText } from './en-problems.ts';
import { problemTexts as croatian } from './hr-problems.ts';
import { invitationTexts } from './invitation-texts.ts';
import { lineTexts } from './line-texts.ts';
import { purchaseTexts } from './purchase-texts.ts';
import { shopTexts } from './shop-texts.ts';
import { transferTexts } from './transfer-texts.ts';

/** Chooses the text of one language. Each text stands beside its translation, so that no language can miss one. */
export type Translate = <T>(english: T, croatian: T) => T;

const textsFor = (t: Translate) => ({
  ...shopTexts(t),
  ...lineTexts(t),
  ...purchaseTexts(t),
  invitation: invitationTexts(t),
  account: accountTexts(t),
  transfers: transferTexts(t),
  problems: t<Record<ProblemCode, ProblemText>>(english, croatian),
});

/** The texts of the pages for fans and of what all pages share, in one language. Those of the others are in staff-language.ts. */
export type Texts = ReturnType<typeof textsFor>;

export type Language = 'hr' | 'en';

/** The texts of each language. */
export const languages: Record<Language, Texts> = { hr: textsFor((_, text) => text), en: textsFor((text) => text) };
