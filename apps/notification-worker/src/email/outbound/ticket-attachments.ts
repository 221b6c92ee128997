import { ticketPdf } from '#ticketing/ticket-pdf';
import { ticketQrPng } from '#ticketing/ticket-qr-png';
import { qrFileName, shortTicketId } from '#domain/notification/mail-templates';
import type { Attachment, PrintableTickets } from '../application/ports.ts';

/**
 * Renders each ticket as a PDF to print and as a QR code (PNG), which the mail itself shows. The tickets are in the mail itself and not behind a link,
 * because a fan needs them at the stadium gate. The file names contain the short ticket id, as the text of the mail does.
 */
export function ticketAttachments({ match_name, kickoff_at, venue, tickets }: PrintableTickets): readonly Attachment[] {
  return tickets.flatMap(({ ticket_id, holder_name, sector, row, seat, gate, code }) => {
    const printed = {
      id: ticket_id,
      matchName: match_name,
      kickoffAt: kickoff_at,
      venue,
      gate: gate ?? null,
      sector,
      row,
      seat,
      holderName: holder_name,
      code,
    };
    return [
      {
        name: `ticket-${shortTicketId(ticket_id)}.pdf`,
        contentType: 'application/pdf',
        // Drawn only when it is read: the mailbox stores the name of the file alone.
        get content() {
          return ticketPdf(printed);
        },
      },
      { name: qrFileName(ticket_id), contentType: 'image/png', content: ticketQrPng(code), inline: true },
    ];
  });
}
