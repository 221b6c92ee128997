import { lines, type WrittenMail } from './mail-document.ts';
import { datedMatchBlock, matchBlock, type DatedMatch, type MatchFacts } from './mail-match.ts';
import { amountText, momentText, placeCountText, say, ticketCountText, type MailLocale } from './mail-words.ts';

/** Payload of the mail that invites a person to claim tickets of a quota (places set aside for an owner), or reminds of that. */
export interface QuotaInvitation extends MatchFacts {
  readonly quota_name: string;
  readonly tickets_count: number;
  readonly claim_until: string;
  readonly claim_url: string;
  /** The mail is then written without a salutation. */
  readonly invited_name?: string | undefined;
  /** The price of all tickets. Without it the mail names no price. */
  readonly total_amount?: string | undefined;
  readonly reminder?: boolean | undefined;
}

/** Payload of the mail to the contact of a quota, about the deadline at which its free places go back. */
export interface QuotaReturn extends DatedMatch {
  readonly quota_name: string;
  readonly notice: 'week' | 'day' | 'returned';
  readonly return_at: string;
  readonly places_count: number;
  readonly on_return: 'public' | 'parent' | 'keep';
  /** Only with `on_return: parent`. */
  readonly parent_name?: string | undefined;
}

export function quotaInvitation(invitation: QuotaInvitation): WrittenMail {
  const { locale, quota_name, match_name, claim_url, invited_name, total_amount, reminder } = invitation;
  const hr = locale === 'hr';
  const count = ticketCountText(invitation.tickets_count, locale);
  const until = momentText(invitation.claim_until, locale);
  const [invited, reminded] = hr ? ['Poziv', 'Podsjetnik'] : ['Invitation', 'Reminder'];
  const title = reminder ? reminded : invited;
  return [
    hr ? say`${title}: ulaznice za ${match_name}` : say`${title}: tickets for ${match_name}`,
    ...(invited_name === undefined ? [] : [lines(hr ? say`Pozdrav, ${invited_name}!` : say`Hello ${invited_name},`)]),
    lines(
      ...(reminder ? [hr ? 'Još niste preuzeli svoje ulaznice.' : 'You have not claimed your tickets yet.'] : []),
      hr
        ? say`Iz kvote „${quota_name}“ za vas je odvojeno: ${count}.`
        : say`From the quota “${quota_name}” we have set aside for you: ${count}.`,
      ...(total_amount === undefined ? [] : [priceLine(total_amount, locale)]),
    ),
    matchBlock(invitation),
    {
      kind: 'link',
      before: hr ? 'Preuzmite ih ovdje' : 'Claim them here',
      label: hr ? 'Preuzmi ulaznice' : 'Claim tickets',
      url: say`${claim_url}`,
      after: [
        hr ? say`Rok: ${until}. Nakon toga poziv više ne vrijedi.` : say`By ${until}. After that the invitation has ended.`,
      ],
    },
  ];
}

function priceLine(amount: string, locale: MailLocale): string {
  const hr = locale === 'hr';
  const price = /^0+\.00 /.test(amount) ? (hr ? 'besplatno' : 'free of charge') : amountText(amount, locale);
  return hr ? say`Cijena: ${price}` : say`Price: ${price}`;
}

export function quotaReturn(facts: QuotaReturn): WrittenMail {
  const { locale, quota_name, match_name, notice } = facts;
  const hr = locale === 'hr';
  if (notice === 'returned')
    return [
      hr ? say`Kvota „${quota_name}“ je završena: ${match_name}` : say`The quota “${quota_name}” has ended: ${match_name}`,
      datedMatchBlock(facts),
      lines(deadlineLine(facts), returnedLine(facts)),
    ];
  if (!['week', 'day'].includes(notice)) throw new Error('A variable is missing: which notice');
  return [
    hr ? say`Rok kvote „${quota_name}“: ${match_name}` : say`Deadline of the quota “${quota_name}”: ${match_name}`,
    datedMatchBlock(facts),
    lines(deadlineLine(facts), ...comingReturn(facts)),
  ];
}

function deadlineLine({ return_at, locale }: QuotaReturn): string {
  const deadline = momentText(return_at, locale);
  return locale === 'hr' ? say`Rok: ${deadline}` : say`Deadline: ${deadline}`;
}

/** What will happen at the deadline. */
function comingReturn(facts: QuotaReturn): readonly string[] {
  const hr = facts.locale === 'hr';
  const count = placeCountText(facts.places_count, facts.locale);
  const free = hr ? say`Slobodno u kvoti: ${count}` : say`Free in the quota: ${count}`;
  const goal = goalText(facts);
  const then = hr ? say`Nakon roka slobodna mjesta ${goal}.` : say`After the deadline the free places ${goal}.`;
  const hint = hr
    ? 'Do tada još možete pozivati ljude. Pozivi koje nitko ne preuzme završavaju najkasnije tim rokom.'
    : 'Until then you can invite more people. Invitations that nobody claims end at this deadline at the latest.';
  return [free, then, hint];
}

/** What has happened at the deadline. */
function returnedLine(facts: QuotaReturn): string {
  const hr = facts.locale === 'hr';
  if (facts.places_count === 0)
    return hr ? 'Nijedno mjesto nije bilo slobodno, pa se ništa nije vratilo.' : 'No place was free, so nothing went back.';
  const count = placeCountText(facts.places_count, facts.locale);
  const goal = goalText(facts);
  return hr ? say`Slobodno je bilo: ${count}. Ta mjesta ${goal}.` : say`Free were: ${count}. These places ${goal}.`;
}

function goalText({ on_return, parent_name, locale }: QuotaReturn): string {
  const hr = locale === 'hr';
  switch (on_return) {
    case 'public':
      return hr ? 'idu u javnu prodaju' : 'go on public sale';
    case 'parent':
      return hr ? say`idu u kvotu „${parent_name}“` : say`go to the quota “${parent_name}”`;
    case 'keep':
      return hr ? 'ostaju u kvoti, ali se više nikoga ne može pozvati' : 'stay in the quota, but nobody can be invited any more';
    default:
      throw new Error('A variable is missing: where the places go');
  }
}
