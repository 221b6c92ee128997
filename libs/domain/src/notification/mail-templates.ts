import { kickoffText, say, seatText, ticketCountText, type MailLocale, type MailSeat } from './mail-words.ts';

/** The mails we write, each a pure function of the job's payload: the fields keep the payload's names. */
export interface OrderConfirmation {
  readonly order_id: string;
  readonly match_name: string;
  readonly kickoff_at: string;
  readonly venue: string;
  readonly tickets: readonly MailSeat[];
  readonly total_amount: string;
  readonly locale: MailLocale;
}

export interface TicketDelivery {
  readonly order_id: string;
  readonly match_name: string;
  readonly kickoff_at: string;
  readonly venue: string;
  readonly tickets: readonly (MailSeat & { readonly ticket_id: string; readonly holder_name: string })[];
  readonly locale: MailLocale;
}

export interface Refund {
  readonly order_id: string;
  readonly match_name: string;
  readonly total_amount: string;
  readonly locale: MailLocale;
}

/** A template and what it needs; every kind of mail we write is one of these. */
export type MailContent =
  | { readonly template: 'order_confirmation'; readonly payload: OrderConfirmation }
  | { readonly template: 'ticket_delivery'; readonly payload: TicketDelivery }
  | { readonly template: 'refund'; readonly payload: Refund };

/** What a mail knows beside its payload. */
export interface MailLinks {
  readonly ticketsUrl: string;
}

export interface MailText {
  readonly subject: string;
  readonly text: string;
}

/**
 * What a fan can read out to a steward or to support. It is taken from the ticket's id, not from its code: the code opens
 * the gate, so not even its tail stands in a mail.
 */
export function shortTicketId(ticketId: string): string {
  return ticketId.replaceAll('-', '').slice(-8).toUpperCase();
}

export function writeMail(content: MailContent, links: MailLinks): MailText {
  switch (content.template) {
    case 'order_confirmation':
      return orderConfirmation(content.payload, links);
    case 'ticket_delivery':
      return ticketDelivery(content.payload, links);
    case 'refund':
      return refund(content.payload);
  }
}

function orderConfirmation(order: OrderConfirmation, links: MailLinks): MailText {
  const { locale } = order;
  const seats = order.tickets.map((ticket) => `  - ${seatText(ticket, locale)}`);
  const count = ticketCountText(order.tickets.length, locale);
  if (locale === 'hr') {
    return {
      subject: say`Narudžba ${order.order_id} je potvrđena: ${order.match_name}`,
      text: page(
        ['Hvala na kupnji!', say`Narudžba ${order.order_id} je plaćena.`],
        matchLines(order),
        [`${count}:`, ...seats],
        [say`Ukupno: ${order.total_amount}`],
        [say`Ulaznice stižu u posebnoj poruci, a naći ćete ih i ovdje: ${links.ticketsUrl}`],
      ),
    };
  }
  return {
    subject: say`Order ${order.order_id} is confirmed: ${order.match_name}`,
    text: page(
      ['Thank you for your order!', say`Order ${order.order_id} is paid.`],
      matchLines(order),
      [`${count}:`, ...seats],
      [say`Total: ${order.total_amount}`],
      [say`Your tickets come in a mail of their own and are also here: ${links.ticketsUrl}`],
    ),
  };
}

function ticketDelivery(order: TicketDelivery, links: MailLinks): MailText {
  const { locale } = order;
  const count = ticketCountText(order.tickets.length, locale);
  const tickets = order.tickets.map((ticket) => `  - ${ticketLine(ticket, locale)}`);
  if (locale === 'hr') {
    return {
      subject: say`Vaše ulaznice: ${order.match_name}`,
      text: page([say`${count} iz narudžbe ${order.order_id}`], matchLines(order), tickets, [
        say`Ulaznice s QR kodom su ovdje: ${links.ticketsUrl}`,
        'Prijavite se istim računom i na ulazu pokažite kod s mobitela ili ispisan.',
        'Kod nikome ne šaljite: tko ga prvi pokaže, ulazi.',
      ]),
    };
  }
  return {
    subject: say`Your tickets: ${order.match_name}`,
    text: page([say`${count} of order ${order.order_id}`], matchLines(order), tickets, [
      say`The tickets with their QR codes are here: ${links.ticketsUrl}`,
      'Sign in with the same account and show the code at the gate, on your phone or printed.',
      'Send the code to nobody: whoever shows it first is let in.',
    ]),
  };
}

function refund(order: Refund): MailText {
  if (order.locale === 'hr') {
    return {
      subject: say`Povrat novca za narudžbu ${order.order_id}`,
      text: page(
        [say`Vratili smo vam ${order.total_amount} za narudžbu ${order.order_id} (${order.match_name}).`],
        ['Novac dolazi na karticu kojom je plaćeno; kada, ovisi o vašoj banci.', 'Vraćene ulaznice više ne vrijede.'],
      ),
    };
  }
  return {
    subject: say`Refund for order ${order.order_id}`,
    text: page(
      [say`We have refunded ${order.total_amount} for order ${order.order_id} (${order.match_name}).`],
      [
        'The money goes back to the card you paid with; how soon depends on your bank.',
        'The refunded tickets are no longer valid.',
      ],
    ),
  };
}

function matchLines(match: Pick<OrderConfirmation, 'match_name' | 'kickoff_at' | 'venue' | 'locale'>): string[] {
  return [say`${match.match_name}`, kickoffText(match.kickoff_at, match.locale), say`${match.venue}`];
}

function ticketLine(ticket: TicketDelivery['tickets'][number], locale: MailLocale): string {
  const place = seatText(ticket, locale);
  const id = shortTicketId(ticket.ticket_id);
  return locale === 'hr'
    ? say`${place}: ${ticket.holder_name} (ulaznica ${id})`
    : say`${place}: ${ticket.holder_name} (ticket ${id})`;
}

/** Paragraphs with an empty line between them and a line break at the end, as plain text mails have. */
function page(...paragraphs: readonly (readonly string[])[]): string {
  return `${paragraphs.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
