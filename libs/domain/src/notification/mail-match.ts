import { lines, type MailBlock } from './mail-document.ts';
import { kickoffText, say, type MailLocale } from './mail-words.ts';

/** The match that a mail is about. */
export interface MatchFacts {
  readonly match_name: string;
  /** `kickoff_at` and `venue` may be missing in a job. The mail is then written without them. */
  readonly kickoff_at?: string | undefined;
  readonly venue?: string | undefined;
  readonly locale: MailLocale;
}

/** A match in mails that cannot be written without kickoff and venue. */
export interface DatedMatch extends MatchFacts {
  readonly kickoff_at: string;
  readonly venue: string;
}

export function matchBlock({ match_name, kickoff_at, venue, locale }: MatchFacts): MailBlock {
  return lines(
    say`${match_name}`,
    ...(kickoff_at === undefined ? [] : [kickoffText(kickoff_at, locale)]),
    ...(venue === undefined ? [] : [say`${venue}`]),
  );
}

export function datedMatchBlock({ match_name, kickoff_at, venue, locale }: DatedMatch): MailBlock {
  return lines(say`${match_name}`, kickoffText(kickoff_at, locale), say`${venue}`);
}
