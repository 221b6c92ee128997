import { parseTicketCode, ticketCodeText, withSignature, type TicketClaims } from './domain/ticket-code.ts';
import type { Ed25519TicketSigner } from './ed25519-ticket-signer.ts';

/** Writes the signed codes of tickets, and reads only codes that were signed with our key. */
export class TicketCodes {
  constructor(private readonly signer: Ed25519TicketSigner) {}

  write(ticket: { id: string; matchId: string; serial: number }): string {
    const text = ticketCodeText({ ticketId: ticket.id, matchId: ticket.matchId, serial: ticket.serial }, this.signer.keyId);
    return withSignature(text, this.signer.sign(text));
  }

  /** Returns the claims of an authentic code; undefined for any other text. It does not check whether the ticket is still valid. */
  read(code: string): TicketClaims | undefined {
    const parsed = parseTicketCode(code);
    if (!parsed || !this.signer.keyId.every((byte, index) => parsed.keyId[index] === byte)) return undefined;
    return this.signer.verify(parsed.signedText, parsed.signature) ? parsed.claims : undefined;
  }
}
