import { loadConfigOrExit } from '#platform/config/load-config';
import { processSettings, purchaseSettings } from '#platform/config/settings';
import type { Command } from 'commander';
import { TicketCodes } from '../ticketing/ticket-codes.ts';
import { print } from './environment.ts';

const signingSettings = processSettings
  .pick({ NODE_ENV: true })
  .extend(purchaseSettings.pick({ TICKET_SIGNING_KEY: true }).shape);

/** Adds the command `tickets:public-key`. */
export function addTicketCommands(program: Command): void {
  program
    .command('tickets:public-key')
    .description('the public key of TICKET_SIGNING_KEY, for TICKET_PUBLIC_KEYS of the event loader')
    .action(() => print(new TicketCodes(loadConfigOrExit(signingSettings, process.env).TICKET_SIGNING_KEY).publicKeyBase64));
}
