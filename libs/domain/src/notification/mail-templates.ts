import { lines, render, type MailBlock, type MailDocument, type MailText } from './mail-document.ts';
import { kickoffText, momentText, say, seatText, ticketCountText, type MailLocale, type MailSeat } from './mail-words.ts';
import { refund, type RefundMail } from './refund-mail.ts';

interface MatchFacts {
  readonly match_name: string;
  /** `kickoff_at` and `venue` may be missing in a job. The mail is then written without them. */
  readonly kickoff_at?: string | undefined;
  readonly venue?: string | undefined;
  readonly locale: MailLocale;
}

/** A match in mails that cannot be written without kickoff and venue. */
interface DatedMatch extends MatchFacts {
  readonly kickoff_at: string;
  readonly venue: string;
}

/** Payload of the mail that confirms a completed order. In all mail payloads the fields are named as in the job's JSON. */
export interface OrderConfirmation extends MatchFacts {
  readonly order_id: string;
  readonly tickets: readonly MailSeat[];
  readonly total_amount: string;
}

/** Payload of the mail that brings the tickets. */
export interface TicketDelivery extends MatchFacts {
  readonly order_id: string;
  readonly tickets: readonly (MailSeat & {
    readonly ticket_id: string;
    readonly holder_name: string;
    /** Absent in jobs of earlier versions; null for a sector without a gate. */
    readonly gate?: string | null | undefined;
  })[];
}

/** Payload of the mail that invites a fan to claim tickets of a quota (seats set aside for an owner, for example a club). */
export interface QuotaInvitation extends MatchFacts {
  readonly quota_name: string;
  readonly tickets_count: number;
  readonly claim_until: string;
  readonly claim_url: string;
}

/** Payload of the mail that reminds a ticket holder of the match. */
export interface MatchReminder extends DatedMatch {
  readonly tickets: readonly MailSeat[];
}

/**
 * Payload of the mail about a moved match (new kickoff or venue) or a cancelled one. It names the previous kickoff and venue, which
 * the fan remembers.
 */
export interface MatchChanged extends DatedMatch {
  readonly change: 'moved' | 'cancelled';
  readonly previous_kickoff_at: string;
  readonly previous_venue: string;
  /** The operator's reason for a cancellation. */
  readonly reason?: string | undefined;
}

/** An alert to operators. `about` and `text` are always in English, like the logs. */
export interface OpsAlert {
  readonly about: string;
  readonly text: string;
  readonly at: string;
  readonly locale: MailLocale;
}

/** A template with its payload, for every kind of mail. */
export type MailContent =
  | { readonly template: 'order_confirmation'; readonly payload: OrderConfirmation }
  | { readonly template: 'ticket_delivery'; readonly payload: TicketDelivery }
  | { readonly template: 'refund'; readonly payload: RefundMail }
  | { readonly template: 'quota_invitation'; readonly payload: QuotaInvitation }
  | { readonly template: 'match_reminder'; readonly payload: MatchReminder }
  | { readonly template: 'match_changed'; readonly payload: MatchChanged }
  | { readonly template: 'ops_alert'; readonly payload: OpsAlert };

/** URLs for mails that come from the configuration, not from a mail's payload. */
export interface MailLinks {
  readonly ticketsUrl: string;
}

/**
 * A short ticket id that a fan can read out to a steward or to support. Made from the ticket's id, not from its secret code:
 * anybody who shows the code is let in, so no part of the code may be in a mail.
 */
export function shortTicketId(ticketId: string): string {
  return ticketId.replaceAll('-', '').slice(-8).toUpperCase();
}

/** Writes a mail in the language of its payload. Throws if a required variable is missing. */
export function writeMail(content: MailContent, links: MailLinks): MailText {
  return render(documentOf(content, links));
}

function documentOf(content: MailContent, links: MailLinks): MailDocument {
  switch (content.template) {
    case 'order_confirmation':
      return orderConfirmation(content.payload, links);
    case 'ticket_delivery':
      return ticketDelivery(content.payload, links);
    case 'refund':
      return refund(content.payload);
    case 'quota_invitation':
      return quotaInvitation(content.payload);
    case 'match_reminder':
      return matchReminder(content.payload, links);
    case 'match_changed':
      return matchChanged(content.payload, links);
    case 'ops_alert':
      return opsAlert(content.payload);
  }
}

function orderConfirmation(order: OrderConfirmation, links: MailLinks): MailDocument {
  const { locale } = order;
  const hr = locale === 'hr';
  return {
    locale,
    subject: hr
      ? say`Narudžba ${order.order_id} je potvrđena: ${order.match_name}`
      : say`Order ${order.order_id} is confirmed: ${order.match_name}`,
    blocks: [
      hr
        ? lines('Hvala na kupnji!', say`Narudžba ${order.order_id} je plaćena.`)
        : lines('Thank you for your order!', say`Order ${order.order_id} is paid.`),
      matchBlock(order),
      {
        kind: 'list',
        title: `${ticketCountText(order.tickets.length, locale)}:`,
        items: order.tickets.map((ticket) => seatText(ticket, locale)),
      },
      lines(hr ? say`Ukupno: ${order.total_amount}` : say`Total: ${order.total_amount}`),
      ticketsLink(
        links,
        locale,
        hr
          ? 'Ulaznice stižu u posebnoj poruci, a naći ćete ih i ovdje'
          : 'Your tickets come in a separate mail and are also here',
      ),
    ],
  };
}

function ticketDelivery(order: TicketDelivery, links: MailLinks): MailDocument {
  const { locale } = order;
  const hr = locale === 'hr';
  const count = ticketCountText(order.tickets.length, locale);
  return {
    locale,
    subject: hr ? say`Vaše ulaznice: ${order.match_name}` : say`Your tickets: ${order.match_name}`,
    blocks: [
      lines(hr ? say`${count} iz narudžbe ${order.order_id}` : say`${count} of order ${order.order_id}`),
      matchBlock(order),
      { kind: 'list', items: order.tickets.map((ticket) => ticketLine(ticket, locale)) },
      ticketsLink(
        links,
        locale,
        hr ? 'Ulaznice s QR kodom su u privitku i ovdje' : 'The tickets with their QR codes are attached, and here',
        hr
          ? [
              'Prijavite se istim računom i na ulazu pokažite kod s mobitela ili ispisan.',
              'Kod nikome ne šaljite: tko ga prvi pokaže, ulazi.',
            ]
          : [
              'Sign in with the same account and show the code at the gate, on your phone or printed.',
              'Send the code to nobody: whoever shows it first is let in.',
            ],
      ),
    ],
  };
}

function quotaInvitation(invitation: QuotaInvitation): MailDocument {
  const { locale, quota_name, match_name, claim_url } = invitation;
  const hr = locale === 'hr';
  const count = ticketCountText(invitation.tickets_count, locale);
  const until = momentText(invitation.claim_until, locale);
  return {
    locale,
    subject: hr ? say`Poziv: ulaznice za ${match_name}` : say`Invitation: tickets for ${match_name}`,
    blocks: [
      lines(
        hr
          ? say`Iz kvote „${quota_name}“ za vas je odvojeno: ${count}.`
          : say`From the quota “${quota_name}” we have set aside for you: ${count}.`,
      ),
      matchBlock(invitation),
      {
        kind: 'link',
        before: hr ? 'Preuzmite ih ovdje' : 'Claim them here',
        label: hr ? 'Preuzmi ulaznice' : 'Claim tickets',
        url: say`${claim_url}`,
        after: [hr ? say`Rok: ${until}. Nakon toga vraćaju se u prodaju.` : say`By ${until}. After that they go back on sale.`],
      },
    ],
  };
}

function matchReminder(reminder: MatchReminder, links: MailLinks): MailDocument {
  const { locale } = reminder;
  const hr = locale === 'hr';
  return {
    locale,
    subject: hr ? say`Uskoro: ${reminder.match_name}` : say`Coming up: ${reminder.match_name}`,
    blocks: [
      lines(hr ? 'Podsjećamo vas na utakmicu za koju imate ulaznice.' : 'This is a reminder of the match you have tickets for.'),
      datedMatchBlock(reminder),
      {
        kind: 'list',
        title: `${ticketCountText(reminder.tickets.length, locale)}:`,
        items: reminder.tickets.map((ticket) => seatText(ticket, locale)),
      },
      ticketsLink(links, locale, hr ? 'Ulaznice s QR kodom su ovdje' : 'The tickets with their QR codes are here'),
    ],
  };
}

function matchChanged(match: MatchChanged, links: MailLinks): MailDocument {
  const { locale, change } = match;
  const hr = locale === 'hr';
  const before = say`${kickoffText(match.previous_kickoff_at, locale)}, ${match.previous_venue}`;
  if (change === 'cancelled') {
    return {
      locale,
      subject: hr ? say`Otkazano: ${match.match_name}` : say`Cancelled: ${match.match_name}`,
      blocks: [
        lines(
          hr ? say`Utakmica ${match.match_name} je otkazana.` : say`The match ${match.match_name} is cancelled.`,
          hr ? say`Trebala se igrati: ${before}.` : say`It was planned for: ${before}.`,
          ...(match.reason ? [hr ? say`Razlog: ${match.reason}` : say`Reason: ${match.reason}`] : []),
        ),
        lines(
          hr
            ? 'Ulaznice više ne vrijede, a novac vam vraćamo bez zahtjeva.'
            : 'The tickets are no longer valid. We refund your money without a request from you.',
        ),
      ],
    };
  }
  if (change !== 'moved') throw new Error('A variable is missing: what changed');
  const isSameTime = Date.parse(match.kickoff_at) === Date.parse(match.previous_kickoff_at);
  return {
    locale,
    subject: isSameTime
      ? hr
        ? say`Promjena mjesta: ${match.match_name}`
        : say`New venue: ${match.match_name}`
      : hr
        ? say`Promjena termina: ${match.match_name}`
        : say`New date: ${match.match_name}`,
    blocks: [
      lines(hr ? 'Utakmica za koju imate ulaznice je premještena.' : 'The match you have tickets for has been moved.'),
      datedMatchBlock(match),
      lines(hr ? say`Prije: ${before}` : say`Before: ${before}`),
      ticketsLink(links, locale, hr ? 'Ulaznice i dalje vrijede i nalaze se ovdje' : 'Your tickets stay valid and are here'),
    ],
  };
}

function opsAlert({ about, text, at, locale }: OpsAlert): MailDocument {
  const time = momentText(at, locale);
  return {
    locale,
    subject: locale === 'hr' ? say`Tribina, upozorenje: ${about}` : say`Tribina alert: ${about}`,
    blocks: [lines(say`${text}`), lines(locale === 'hr' ? say`Vrijeme: ${time}` : say`Time: ${time}`)],
  };
}

function matchBlock({ match_name, kickoff_at, venue, locale }: MatchFacts): MailBlock {
  return lines(
    say`${match_name}`,
    ...(kickoff_at === undefined ? [] : [kickoffText(kickoff_at, locale)]),
    ...(venue === undefined ? [] : [say`${venue}`]),
  );
}

function datedMatchBlock({ match_name, kickoff_at, venue, locale }: DatedMatch): MailBlock {
  return lines(say`${match_name}`, kickoffText(kickoff_at, locale), say`${venue}`);
}

function ticketsLink({ ticketsUrl }: MailLinks, locale: MailLocale, before: string, after?: readonly string[]): MailBlock {
  return { kind: 'link', before, label: locale === 'hr' ? 'Moje ulaznice' : 'My tickets', url: say`${ticketsUrl}`, after };
}

function ticketLine(ticket: TicketDelivery['tickets'][number], locale: MailLocale): string {
  const seat = seatText(ticket, locale);
  const gateAndSeat = !ticket.gate
    ? seat
    : locale === 'hr'
      ? say`ulaz ${ticket.gate}, ${seat}`
      : say`gate ${ticket.gate}, ${seat}`;
  const id = shortTicketId(ticket.ticket_id);
  return locale === 'hr'
    ? say`${gateAndSeat}: ${ticket.holder_name} (ulaznica ${id})`
    : say`${gateAndSeat}: ${ticket.holder_name} (ticket ${id})`;
}
