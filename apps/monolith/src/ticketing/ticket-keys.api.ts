import { TicketCodes } from './ticket-codes.ts';

/** The public key that belongs to a value of TICKET_SIGNING_KEY, in the form that TICKET_PUBLIC_KEYS takes. */
export function ticketPublicKey(signingKey: string): string {
  return new TicketCodes(signingKey).publicKeyBase64;
}
