import { kickoffText } from '#domain/notification/mail-words';
import { PdfPage } from './pdf-page.ts';
import { qrModules, QUIET_ZONE_MODULES } from './ticket-qr.ts';

/** Page size in points: A6. Four tickets fit on a sheet of A4. */
const PAGE = { width: 298, height: 420 };
const MARGIN = 22;
const QR_SIZE = 168;

/** The data of a ticket that are printed in its PDF. */
export interface PrintedTicket {
  readonly id: string;
  readonly matchName: string;
  /** `kickoffAt` and `venue` are undefined if the mail job was created without them. */
  readonly kickoffAt?: string | undefined;
  readonly venue?: string | undefined;
  readonly gate?: string | null;
  readonly sector: string;
  /** `row` and `seat` are null for a standing place. */
  readonly row: string | null;
  readonly seat: string | null;
  readonly holderName: string;
  /** The signed text in the QR code. */
  readonly code: string;
}

/** Returns a ticket as a PDF. Its labels are in Croatian and English, because the stewards at the gates read them, too. */
export function ticketPdf(ticket: PrintedTicket): Buffer {
  const page = new PdfPage(PAGE.width, PAGE.height, `${ticket.matchName}: ${ticket.holderName}`);
  page.rectangle({ x: 0, y: 0, width: PAGE.width, height: 6 });
  page.text(ticket.matchName, { x: MARGIN, y: 36 }, { size: 18, weight: 'bold' });
  if (ticket.kickoffAt !== undefined) {
    page.text(kickoffText(ticket.kickoffAt, 'hr'), { x: MARGIN, y: 54 }, { size: 9.5 });
    page.text(kickoffText(ticket.kickoffAt, 'en'), { x: MARGIN, y: 66 }, { size: 9.5, gray: 0.35 });
  }
  if (ticket.venue !== undefined) page.text(ticket.venue, { x: MARGIN, y: 80 }, { size: 9.5 });
  drawSeat(page, ticket);
  page.text('Ime / Name', { x: MARGIN, y: 142 }, { size: 7, gray: 0.35 });
  page.text(ticket.holderName, { x: MARGIN, y: 157 }, { size: 13, weight: 'bold' });
  drawCode(page, ticket.code, { x: (PAGE.width - QR_SIZE) / 2, y: 172 });
  page.text(
    'Jedan ulaz. Kod se ne smije objavljivati. / One entry. Do not publish the code.',
    { x: MARGIN, y: 364 },
    { size: 7 },
  );
  page.text(ticket.id, { x: MARGIN, y: 378 }, { size: 7, gray: 0.35 });
  return page.render();
}

function drawSeat(page: PdfPage, { gate, sector, row, seat }: PrintedTicket): void {
  const facts: [string, string | null | undefined][] = [
    ['Sektor / Sector', sector],
    ['Ulaz / Gate', gate],
    ['Red / Row', row],
    ['Mjesto / Seat', seat ?? (row === null ? 'stajanje / standing' : null)],
  ];
  const shown = facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
  const width = (PAGE.width - 2 * MARGIN) / shown.length;
  shown.forEach(([label, value], index) => {
    const x = MARGIN + index * width;
    page.text(label, { x, y: 104 }, { size: 7, gray: 0.35, maxWidth: width - 4 });
    page.text(value, { x, y: 122 }, { size: 15, weight: 'bold', maxWidth: width - 6 });
  });
}

function drawCode(page: PdfPage, code: string, topLeft: { x: number; y: number }): void {
  const modules = qrModules(code);
  const module = QR_SIZE / (modules.length + 2 * QUIET_ZONE_MODULES);
  const border = QUIET_ZONE_MODULES * module;
  page.squares(modules, { x: topLeft.x + border, y: topLeft.y + border }, module);
}
