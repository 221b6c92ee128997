import { lines, type MailDocument } from './mail-document.ts';
import { say, ticketCountText, type MailLocale } from './mail-words.ts';

/** Payload of the refund mail, to the buyer or to a fan who got the refunded tickets by transfer. */
export interface RefundMail {
  readonly order_id: string;
  readonly match_name: string;
  readonly total_amount: string;
  /** Set if the reader got the tickets by transfer: the number of refunded tickets. The money goes to the buyer. */
  readonly received?: number | undefined;
  readonly locale: MailLocale;
}

/**
 * The mail to a fan who got the refunded tickets by transfer. It has no order number and no amount, because only the buyer may see
 * them.
 */
function receivedRefund({ locale, match_name }: RefundMail, received: number): MailDocument {
  const tickets = ticketCountText(received, locale);
  if (locale === 'hr') {
    return {
      locale,
      subject: say`Poništeno: ${tickets} za ${match_name}`,
      blocks: [
        lines(say`Organizator je poništio ono što ste dobili za ${match_name}: ${tickets}. Kod više ne otvara ulaz.`),
        lines('Novac se vraća osobi koja je platila.'),
      ],
    };
  }
  return {
    locale,
    subject: say`No longer valid: ${tickets} for ${match_name}`,
    blocks: [
      lines(say`The organiser has refunded what you were given for ${match_name}: ${tickets}. The code no longer opens a gate.`),
      lines('The money goes back to the person who paid.'),
    ],
  };
}

/** The refund mail to the buyer, or to a receiver of transferred tickets if `received` is set. */
export function refund(order: RefundMail): MailDocument {
  if (order.received !== undefined) return receivedRefund(order, order.received);
  const { locale, total_amount, order_id, match_name } = order;
  if (locale === 'hr') {
    return {
      locale,
      subject: say`Povrat novca za narudžbu ${order_id}`,
      blocks: [
        lines(say`Vratili smo vam ${total_amount} za narudžbu ${order_id} (${match_name}).`),
        lines('Novac dolazi na karticu kojom je plaćeno; kada, ovisi o vašoj banci.', 'Vraćene ulaznice više ne vrijede.'),
      ],
    };
  }
  return {
    locale,
    subject: say`Refund for order ${order_id}`,
    blocks: [
      lines(say`We have refunded ${total_amount} for order ${order_id} (${match_name}).`),
      lines(
        'The money goes back to the card you paid with; how soon depends on your bank.',
        'The refunded tickets are no longer valid.',
      ),
    ],
  };
}
