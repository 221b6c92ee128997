import { Clock } from '#application/clock';
import type { Transaction } from '#application/transaction-manager';
import { namedSql } from '#platform/postgres/named-sql';
import { inside } from '#platform/postgres/transaction';
import { Injectable } from '@nestjs/common';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { ErasableWithFans, type TracesOfFan } from '../fans/kept-about-fans.api.ts';
import { idPartOfCode } from './domain/ticket-code.ts';

const MATCHES_WITH_VALID_TICKETS = `select distinct match_id as "matchId" from tickets where user_id = $1 and status = 'valid'`;

const ERASE_HOLDERS = namedSql<{ readonly userId: string }>(
  'erase-holders-of-tickets',
  `
  with mine as (
    select id from tickets where user_id = :userId for no key update
  ), erased as (
    update tickets set holder_name = '' where id in (select id from mine) and holder_name <> ''
  ) select id from mine`,
);

/** Offers that the fan made and nobody accepted. */
const DELETE_OWN_OFFERS = `delete from transfer_offers where from_user_id = $1 and status <> 'accepted'`;
/** Offers of tickets that changed their owner stay: `cli verify` counts them. */
const EMPTY_OFFERS = `
  update transfer_offers set to_email = null, holder_name = null
  where (from_user_id = $1 or to_user_id = $1) and to_user_id is not null and (to_email is not null or holder_name is not null)`;

/** Erases the names on a fan's tickets, and the names and addresses in offers of tickets. */
@Injectable()
export class EraseTickets {
  constructor(
    erasable: ErasableWithFans,
    private readonly catalog: CatalogApi,
    private readonly clock: Clock,
  ) {
    erasable.add({
      hindrance: (tx, userId) => this.hindrance(tx, userId),
      erase: async (tx, userId): Promise<Partial<TracesOfFan>> => {
        const tickets = await inside(tx).rows<{ id: string }>(ERASE_HOLDERS.with({ userId }));
        await inside(tx).rows(DELETE_OWN_OFFERS, [userId]);
        await inside(tx).rows(EMPTY_OFFERS, [userId]);
        const ids = tickets.map(({ id }) => id);
        return { ids, codeParts: ids.map(idPartOfCode) };
      },
    });
  }

  /** Without the name on it, a ticket for a match to come could not be checked at the gate. */
  private async hindrance(tx: Transaction, userId: string): Promise<string | undefined> {
    for (const { matchId } of await inside(tx).rows<{ matchId: string }>(MATCHES_WITH_VALID_TICKETS, [userId])) {
      const match = await this.catalog.match(matchId, tx);
      if (match && match.kickoffAt > this.clock.now())
        return `You have a valid ticket for ${match.home} – ${match.away}. Give it away, or try again after the match.`;
    }
    return undefined;
  }
}
