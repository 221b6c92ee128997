import { lines, render, type MailBlock, type MailText, type WrittenMail } from './mail-document.ts';
import { datedMatchBlock, matchBlock, type DatedMatch, type MatchFacts } from './mail-match.ts';
import {
  amountText,
  kickoffText,
  momentText,
  say,
  seatText,
  ticketCountText,
  type MailLocale,
  type MailSeat,
} from './mail-words.ts';
import { quotaInvitation, quotaReturn, type QuotaInvitation, type QuotaReturn } from './quota-mails.ts';
import { transferAnswer, transferOffer, type TransferAnswer, type TransferOffer } from './transfer-mails.ts';

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

/** The payload of each kind of mail, by its template. The fields are named as in the job's JSON. */
interface MailPayloads {
  /** Confirms a completed order. */
  order_confirmation: MatchFacts & {
    readonly order_id: string;
    readonly tickets: readonly MailSeat[];
    readonly total_amount: string;
  };
  ticket_delivery: TicketDelivery;
  /** To the buyer, or to a fan who got the refunded tickets by transfer. */
  refund: Pick<MatchFacts, 'match_name' | 'locale'> & {
    readonly order_id: string;
    readonly total_amount: string;
    /** Set if the reader got the tickets by transfer: the number of refunded tickets. The money goes to the buyer. */
    readonly received?: number | undefined;
  };
  quota_invitation: QuotaInvitation;
  quota_return: QuotaReturn;
  transfer_offer: TransferOffer;
  transfer_answer: TransferAnswer;
  match_reminder: DatedMatch & { readonly tickets: readonly MailSeat[] };
  /** About a moved match (new kickoff or venue) or a cancelled one. It names the previous kickoff and venue, which the fan remembers. */
  match_changed: DatedMatch & {
    readonly change: 'moved' | 'cancelled';
    readonly previous_kickoff_at: string;
    readonly previous_venue: string;
    /** The operator's reason for a cancellation. */
    readonly reason?: string | undefined;
  };
  /** An alert to operators. `about` and `text` are always in English, like the logs. */
  ops_alert: { readonly about: string; readonly text: string; readonly at: string; readonly locale: MailLocale };
}
type Template = keyof MailPayloads;

/** A template with its payload, for every kind of mail. */
export type MailContent<T extends Template = Template> = {
  [K in T]: { readonly template: K; readonly payload: MailPayloads[K] };
}[T];

/** URLs for mails that come from the configuration, not from a mail's payload. */
export interface MailLinks {
  readonly ticketsUrl: string;
  readonly transfersUrl: string;
}

/**
 * A short ticket id that a fan can read out to a steward or to support. Made from the ticket's id, not from its secret code:
 * anybody who shows the code is let in, so no part of the code may be in the text of a mail.
 */
export function shortTicketId(ticketId: string): string {
  return ticketId.replaceAll('-', '').slice(-8).toUpperCase();
}

/** The name of the image with the QR code of a ticket. The mail that brings the ticket shows the attached image of this name. */
export function qrFileName(ticketId: string): string {
  return `ticket-${shortTicketId(ticketId)}.png`;
}

/** Writes a mail in the language of its payload. Throws if a required variable is missing. */
export function writeMail<T extends Template>({ template, payload }: MailContent<T>, links: MailLinks): MailText {
  const [subject, ...blocks] = writers[template](payload, links);
  return render({ locale: payload.locale, subject, blocks });
}

const writers: { readonly [T in Template]: (payload: MailPayloads[T], links: MailLinks) => WrittenMail } = {
  order_confirmation: (order, links) => {
    const { locale, order_id, match_name } = order;
    const hr = locale === 'hr';
    const total = amountText(order.total_amount, locale);
    return [
      hr ? say`Narudžba ${order_id} je potvrđena: ${match_name}` : say`Order ${order_id} is confirmed: ${match_name}`,
      hr
        ? lines('Hvala na kupnji!', say`Narudžba ${order_id} je plaćena.`)
        : lines('Thank you for your order!', say`Order ${order_id} is paid.`),
      matchBlock(order),
      seatList(order),
      lines(hr ? say`Ukupno: ${total}` : say`Total: ${total}`),
      ticketsLink(
        links,
        locale,
        hr
          ? 'Ulaznice stižu u posebnoj poruci, a naći ćete ih i ovdje'
          : 'Your tickets come in a separate mail and are also here',
      ),
    ];
  },

  ticket_delivery: (order, links) => {
    const { locale, order_id, match_name, tickets } = order;
    const hr = locale === 'hr';
    const count = ticketCountText(tickets.length, locale);
    return [
      hr ? say`Vaše ulaznice: ${match_name}` : say`Your tickets: ${match_name}`,
      lines(hr ? say`${count} iz narudžbe ${order_id}` : say`${count} of order ${order_id}`),
      matchBlock(order),
      { kind: 'images', items: tickets.map((ticket) => ({ ...qrImage(ticket, locale), line: ticketLine(ticket, locale) })) },
      ticketsLink(
        links,
        locale,
        hr ? 'Ulaznice s QR kodom su u privitku i ovdje' : 'The tickets with their QR codes are attached, and here',
        hr
          ? 'Prijavite se istim računom i na ulazu pokažite kod s mobitela ili ispisan.'
          : 'Sign in with the same account and show the code at the gate, on your phone or printed.',
        hr ? 'Kod nikome ne šaljite: tko ga prvi pokaže, ulazi.' : 'Send the code to nobody: whoever shows it first is let in.',
      ),
    ];
  },

  refund: ({ locale, order_id, match_name, total_amount, received }) => {
    const hr = locale === 'hr';
    const amount = amountText(total_amount, locale);
    if (received === undefined)
      return [
        hr ? say`Povrat novca za narudžbu ${order_id}` : say`Refund for order ${order_id}`,
        lines(
          hr
            ? say`Vratili smo vam ${amount} za narudžbu ${order_id} (${match_name}).`
            : say`We have refunded ${amount} for order ${order_id} (${match_name}).`,
        ),
        hr
          ? lines('Novac dolazi na karticu kojom je plaćeno; kada, ovisi o vašoj banci.', 'Vraćene ulaznice više ne vrijede.')
          : lines(
              'The money goes back to the card you paid with; how soon depends on your bank.',
              'The refunded tickets are no longer valid.',
            ),
      ];
    // The receiver of transferred tickets gets no order number and no amount, because only the buyer may see them.
    const tickets = ticketCountText(received, locale);
    return [
      hr ? say`Poništeno: ${tickets} za ${match_name}` : say`No longer valid: ${tickets} for ${match_name}`,
      lines(
        hr
          ? say`Organizator je poništio ono što ste dobili za ${match_name}: ${tickets}. Kod više ne otvara ulaz.`
          : say`The organiser has refunded what you were given for ${match_name}: ${tickets}. The code no longer opens a gate.`,
      ),
      lines(hr ? 'Novac se vraća osobi koja je platila.' : 'The money goes back to the person who paid.'),
    ];
  },

  quota_invitation: quotaInvitation,
  quota_return: quotaReturn,
  transfer_offer: transferOffer,
  transfer_answer: transferAnswer,

  match_reminder: (reminder, links) => {
    const { locale, match_name } = reminder;
    const hr = locale === 'hr';
    return [
      hr ? say`Uskoro: ${match_name}` : say`Coming up: ${match_name}`,
      lines(hr ? 'Podsjećamo vas na utakmicu za koju imate ulaznice.' : 'This is a reminder of the match you have tickets for.'),
      datedMatchBlock(reminder),
      seatList(reminder),
      ticketsLink(links, locale, hr ? 'Ulaznice s QR kodom su ovdje' : 'The tickets with their QR codes are here'),
    ];
  },

  match_changed: (match, links) => {
    const { locale, change, match_name, kickoff_at, previous_kickoff_at, reason } = match;
    const hr = locale === 'hr';
    const before = say`${kickoffText(previous_kickoff_at, locale)}, ${match.previous_venue}`;
    if (change === 'cancelled')
      return [
        hr ? say`Otkazano: ${match_name}` : say`Cancelled: ${match_name}`,
        lines(
          hr ? say`Utakmica ${match_name} je otkazana.` : say`The match ${match_name} is cancelled.`,
          hr ? say`Trebala se igrati: ${before}.` : say`It was planned for: ${before}.`,
          ...(reason ? [hr ? say`Razlog: ${reason}` : say`Reason: ${reason}`] : []),
        ),
        lines(
          hr
            ? 'Ulaznice više ne vrijede, a novac vam vraćamo bez zahtjeva.'
            : 'The tickets are no longer valid. We refund your money without a request from you.',
        ),
      ];
    if (change !== 'moved') throw new Error('A variable is missing: what changed');
    const whatMoved = Date.parse(kickoff_at) === Date.parse(previous_kickoff_at) ? 'venue' : 'date';
    const title = { venue: hr ? 'Promjena mjesta' : 'New venue', date: hr ? 'Promjena termina' : 'New date' }[whatMoved];
    return [
      say`${title}: ${match_name}`,
      lines(hr ? 'Utakmica za koju imate ulaznice je premještena.' : 'The match you have tickets for has been moved.'),
      datedMatchBlock(match),
      lines(hr ? say`Prije: ${before}` : say`Before: ${before}`),
      ticketsLink(links, locale, hr ? 'Ulaznice i dalje vrijede i nalaze se ovdje' : 'Your tickets stay valid and are here'),
    ];
  },

  ops_alert: ({ about, text, at, locale }) => {
    const hr = locale === 'hr';
    const time = momentText(at, locale);
    return [
      hr ? say`Tribina, upozorenje: ${about}` : say`Tribina alert: ${about}`,
      lines(say`${text}`),
      lines(hr ? say`Vrijeme: ${time}` : say`Time: ${time}`),
    ];
  },
};

function seatList({ tickets, locale }: { readonly tickets: readonly MailSeat[]; readonly locale: MailLocale }): MailBlock {
  const title = `${ticketCountText(tickets.length, locale)}:`;
  return { kind: 'list', title, items: tickets.map((ticket) => seatText(ticket, locale)) };
}

function ticketsLink({ ticketsUrl }: MailLinks, locale: MailLocale, before: string, ...after: readonly string[]): MailBlock {
  return { kind: 'link', before, label: locale === 'hr' ? 'Moje ulaznice' : 'My tickets', url: say`${ticketsUrl}`, after };
}

function qrImage({ ticket_id }: TicketDelivery['tickets'][number], locale: MailLocale): { file: string; alt: string } {
  const ticket = shortTicketId(ticket_id);
  return {
    file: qrFileName(ticket_id),
    alt: locale === 'hr' ? say`QR kod ulaznice ${ticket}` : say`QR code of ticket ${ticket}`,
  };
}

function ticketLine(ticket: TicketDelivery['tickets'][number], locale: MailLocale): string {
  const hr = locale === 'hr';
  const { gate, holder_name } = ticket;
  const seat = seatText(ticket, locale);
  const gateAndSeat = gate ? say`${hr ? 'ulaz' : 'gate'} ${gate}, ${seat}` : seat;
  return say`${gateAndSeat}: ${holder_name} (${hr ? 'ulaznica' : 'ticket'} ${shortTicketId(ticket.ticket_id)})`;
}
