import { Injectable } from '@nestjs/common';
import { inPages, KeptAboutFans } from '../fans/kept-about-fans.api.ts';
import { PostgresTickets } from './postgres-tickets.ts';
import { ticketView } from './ticketing.api.ts';

/** Adds a fan's tickets to the export of the fan, without their codes: a code admits anybody who shows it. */
@Injectable()
export class KeptTickets {
  constructor(kept: KeptAboutFans, tickets: PostgresTickets) {
    kept.add('tickets', ({ userId }) =>
      inPages(
        (after, limit) => tickets.ofFan(userId, { limit, after }),
        (rows) =>
          rows.map((row) => {
            const { code: _code, ...ticket } = ticketView(row);
            return ticket;
          }),
      ),
    );
  }
}
