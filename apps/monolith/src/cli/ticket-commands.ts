import { publicKeyText } from '#ticketing/ticket-keys';
import type { Command } from 'commander';
import { print, ticketSigningKey } from './environment.ts';

/** Adds the command `tickets:public-key`. */
export function addTicketCommands(program: Command): void {
  program
    .command('tickets:public-key')
    .description('the public key of TICKET_SIGNING_KEY, for TICKET_PUBLIC_KEYS of the event loader')
    .action(() => print(publicKeyText(ticketSigningKey())));
}
