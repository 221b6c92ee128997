import { kickoffText, say, ticketCountText, type MailLocale } from './mail-words.ts';

interface DatedMatch {
  readonly match_name: string;
  readonly kickoff_at: string;
  readonly venue: string;
}

/** The variables of each push template. A push must fit on a lock screen, so it is a title and one sentence. */
export type PushContent =
  | { readonly template: 'queue_your_turn' | 'queue_front' }
  | { readonly template: 'queue_position'; readonly position: number }
  | { readonly template: 'ticket_delivery'; readonly match_name: string; readonly tickets_count: number }
  | InvitationPush
  | { readonly template: 'transfer_offer'; readonly match_name: string }
  | (DatedMatch & { readonly template: 'match_reminder' })
  | MatchChangedPush;

/**
 * The push about an invitation. It cannot open the invitation: only its mail has the token, because a push passes through Google or
 * Apple.
 */
interface InvitationPush {
  readonly template: 'quota_invitation';
  readonly match_name: string;
  readonly tickets_count: number;
  /** True: reminds of an earlier invitation. */
  readonly reminder?: boolean;
}

/** The push about a moved match (new kickoff, new venue or both) or a cancelled one. It names the current kickoff and venue. */
type MatchChangedPush =
  | (DatedMatch & { readonly template: 'match_changed'; readonly change: 'moved' })
  | { readonly template: 'match_changed'; readonly match_name: string; readonly change: 'cancelled' };

/** The text of a push in one language. */
export interface PushText {
  readonly title: string;
  readonly body: string;
}

/** Writes a push in one language. Throws if a variable is missing. */
export function writePush(content: PushContent, locale: MailLocale): PushText {
  const hr = locale === 'hr';
  switch (content.template) {
    case 'queue_your_turn':
      return hr
        ? { title: 'Vi ste na redu!', body: 'Imate ograničeno vrijeme za kupnju. Otvorite aplikaciju.' }
        : { title: 'Your turn!', body: 'Your time to buy is limited. Open the app.' };
    case 'queue_front':
      return hr
        ? { title: 'Na čelu ste reda', body: 'Vratite se u čekaonicu da biste došli na red.' }
        : { title: 'You are at the front', body: 'Come back to the waiting room to get your turn.' };
    case 'queue_position':
      return hr
        ? { title: say`Vaše mjesto: ${content.position}.`, body: 'Red se pomiče.' }
        : { title: say`Your place: ${content.position}`, body: 'The line is moving.' };
    case 'ticket_delivery':
      return { title: hr ? 'Ulaznice su stigle' : 'Your tickets are here', body: ticketsOfMatch(content, locale) };
    case 'quota_invitation': {
      const invited = hr ? 'Imate poziv za ulaznice' : 'You are invited to claim tickets';
      const reminded = hr ? 'Još niste preuzeli ulaznice' : 'You have not claimed your tickets yet';
      const tickets = ticketsOfMatch(content, locale);
      const body = hr ? say`${tickets}. Poveznica je u e-poruci.` : say`${tickets}. The link is in your mail.`;
      return { title: content.reminder ? reminded : invited, body };
    }
    case 'transfer_offer':
      return hr
        ? { title: 'Netko vam nudi ulaznicu', body: say`${content.match_name}: prihvatite je ili odbijte.` }
        : { title: 'You are offered a ticket', body: say`${content.match_name}: accept or decline it.` };
    case 'match_reminder':
      return {
        title: hr ? say`Uskoro: ${content.match_name}` : say`Coming up: ${content.match_name}`,
        body: say`${kickoffText(content.kickoff_at, locale)}, ${content.venue}`,
      };
    case 'match_changed':
      return matchChanged(content, locale);
  }
}

function ticketsOfMatch(
  { match_name, tickets_count }: { readonly match_name: string; readonly tickets_count: number },
  locale: MailLocale,
): string {
  return say`${match_name}: ${ticketCountText(tickets_count, locale)}`;
}

function matchChanged(content: MatchChangedPush, locale: MailLocale): PushText {
  const hr = locale === 'hr';
  const { match_name: name } = content;
  if (content.change === 'cancelled') {
    return hr
      ? { title: say`Otkazano: ${name}`, body: 'Ulaznice više ne vrijede, a novac vam vraćamo.' }
      : { title: say`Cancelled: ${name}`, body: 'The tickets are no longer valid; we refund your money.' };
  }
  if (content.change !== 'moved') throw new Error('A variable is missing: what changed');
  const now = say`${kickoffText(content.kickoff_at, locale)}, ${content.venue}`;
  return hr
    ? { title: say`Promjena: ${name}`, body: say`Sada: ${now}. Ulaznice vrijede.` }
    : { title: say`Changed: ${name}`, body: say`Now: ${now}. Your tickets stay valid.` };
}
