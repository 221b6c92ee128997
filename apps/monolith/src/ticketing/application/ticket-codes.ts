import { parseTicketCode, ticketCodeText, withSignature, type TicketClaims } from '../domain/ticket-code.ts';
import type { TicketSigner } from './ports.ts';

/** Codes of tickets, written with our key and believed only if they were. */
export class TicketCodes {
  constructor(private readonly signer: TicketSigner) {}

  write(ticket: { id: string; matchId: string; serial: number }): string {
    const text = ticketCodeText({ ticketId: ticket.id, matchId: ticket.matchId, serial: ticket.serial }, this.signer.keyId);
    return withSignature(text, this.signer.sign(text));
  }

  /** What a genuine code says; undefined for every other text. Whether that ticket still lets anybody in is asked elsewhere. */
  read(code: string): TicketClaims | undefined {
    const parsed = parseTicketCode(code);
    if (!parsed || !this.signer.keyId.every((byte, index) => parsed.keyId[index] === byte)) return undefined;
    return this.signer.verify(parsed.signedText, parsed.signature) ? parsed.claims : undefined;
  }
}
