import { writeMail } from '#domain/notification/mail-templates';
import { ticketPdf } from '#ticketing/ticket-pdf';
import { ticketQrPng } from '#ticketing/ticket-qr-png';
import { ticketAttachments } from './ticket-attachments.ts';

const match = { match_name: 'Dinamo - Hajduk', kickoff_at: '2026-12-12T19:45:00Z', venue: 'Stadion Maksimir' };
const ticket = { ticket_id: '0190f3a2-7c11-7d32-9f00-5b2e9c4d7e81', holder_name: 'Ana Horvat', code: 'TRB1.code' };
const seatOfTicket = { sector: 'Zapad A', row: '12', seat: '15' };

test.each([['G4'], [null], [undefined]])('a mailed ticket PDF equals the PDF that ticketPdf renders: gate %s', (gate) => {
  const tickets = [{ ...ticket, ...seatOfTicket, gate }];
  const [pdf, qr] = ticketAttachments({ ...match, order_id: 'ORD-2026-001234', locale: 'hr', tickets });
  const printed = {
    matchName: match.match_name,
    kickoffAt: match.kickoff_at,
    venue: match.venue,
    ...seatOfTicket,
    gate: gate ?? null,
  };
  const page = ticketPdf({ ...printed, id: ticket.ticket_id, holderName: ticket.holder_name, code: ticket.code });
  expect(pdf?.content.equals(page)).toBe(true);
  expect([pdf?.name, qr?.name]).toEqual(['ticket-9C4D7E81.pdf', 'ticket-9C4D7E81.png']);
});

test('the HTML of a ticket mail shows the QR code of each ticket, and every image in it is an inline file of this mail', () => {
  const tickets = ['81', '82', '83'].map((end) => ({
    ...ticket,
    ...seatOfTicket,
    ticket_id: ticket.ticket_id.slice(0, -2) + end,
    code: `TRB1.code-${end}`,
  }));
  const payload = { ...match, order_id: 'ORD-2026-001234', locale: 'en' as const, tickets };
  const { html } = writeMail(
    { template: 'ticket_delivery', payload },
    { ticketsUrl: 'https://hns.hr/tickets', transfersUrl: 'https://hns.hr/transfers' },
  );
  const images = ticketAttachments(payload).filter(({ inline }) => inline);
  expect([...html.matchAll(/<img src="([^"]*)"/g)].map(([, source]) => source)).toEqual(images.map(({ name }) => `cid:${name}`));
  expect(images.map(({ content, contentType }) => [contentType, content])).toEqual(
    tickets.map(({ code }) => ['image/png', ticketQrPng(code)]),
  );
});
