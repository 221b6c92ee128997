import { TransactionManager } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { randomUUID } from 'node:crypto';
import type { BoxOffice } from '../../purchase/testing/box-office.ts';
import { QuotaOffice, type Invited } from '../../purchase/testing/quota-office.ts';
import type { MatchOnSale } from '../../testing/whole-monolith.ts';
import { hashOfToken, newInvitationToken } from '../messages/invitation-token.ts';

/** What an invitation of a test has besides its places. */
export interface InviteFacts {
  readonly email?: string;
  readonly name?: string | null;
  readonly userId?: string | null;
  readonly locale?: 'hr' | 'en';
  readonly quantity?: number;
  /** When it ends, in hours from now. */
  readonly endsInHours?: number;
  readonly issuedHoursAgo?: number;
}

/** A mail or push in the outbox. */
export interface QueuedMessage {
  readonly destination: string;
  readonly event: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

/** Test helper: invitations that are written with SQL, and the messages about them. */
export class InvitedPeople {
  private readonly places: QuotaOffice;

  constructor(readonly office: BoxOffice) {
    this.places = new QuotaOffice(office);
  }

  /** Writes an invitation to free places of the quota, with a token, as issuing does. It sends no mail. */
  async invite(match: MatchOnSale, quotaId: string, facts: InviteFacts = {}): Promise<Invited & { readonly token: string }> {
    const { email = 'ana@example.hr', name = 'Ana Horvat', userId = null, locale = 'hr', quantity = 2 } = facts;
    const { endsInHours = 20, issuedHoursAgo = 72 } = facts;
    const free = (await this.places.places.free({ matchId: match.id, quotaId })).slice(0, quantity);
    if (free.length < quantity) throw new Error('the quota has too few free places');
    const [id, token, sectorId] = [randomUUID(), newInvitationToken(), free[0]!.sectorId];
    const seatIds = free.map(({ seatId }) => seatId);
    await this.office.monolith.get(TransactionManager).run(async (tx) => {
      await inside(tx).rows(
        `insert into invitations (id, match_id, quota_id, email, name, user_id, locale, sector_id, seat_ids, quantity, expires_at,
                                  created_by, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + make_interval(secs => $11), 'test',
                 now() - make_interval(secs => $12))`,
        [
          id,
          match.id,
          quotaId,
          email,
          name,
          userId,
          locale,
          sectorId,
          seatIds,
          quantity,
          endsInHours * 3600,
          issuedHoursAgo * 3600,
        ],
      );
      await inside(tx).rows(`insert into invitation_tokens (token_hash, invitation_id) values ($1, $2)`, [
        hashOfToken(token),
        id,
      ]);
      await this.places.places.bind(tx, quotaId, [{ boundTo: id, seatIds }]);
    });
    return { id, matchId: match.id, sectorId, quotaId, seatIds, token };
  }

  /** A fan claims the invitation. Returns the id of the hold. */
  async claim(invited: Invited): Promise<string> {
    const result = await this.places.claim(invited);
    if (result.kind !== 'held') throw new Error('the invitation was not claimed');
    await this.rows(`update invitations set reservation_id = $2, claimed_at = now() where id = $1`, [
      invited.id,
      result.reservation.id,
    ]);
    return result.reservation.id;
  }

  /** The messages in the outbox about a match, oldest first. */
  messages(match: MatchOnSale): Promise<QueuedMessage[]> {
    return this.rows<QueuedMessage>(
      `select destination, event, body from outbox where body -> 'about' ->> 'match_id' = $1 and destination in ('email', 'push')
       order by seq`,
      [match.id],
    );
  }

  /** The invitation to which a token leads. */
  async ownerOf(token: string): Promise<string | undefined> {
    const [row] = await this.rows<{ id: string }>(`select invitation_id as id from invitation_tokens where token_hash = $1`, [
      hashOfToken(token),
    ]);
    return row?.id;
  }

  rows<T>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    return this.office.rows<T>(sql, parameters);
  }
}

/** The token in the link of a mail. */
export const tokenIn = ({ body }: QueuedMessage): string => new URL(String(body.payload.claim_url)).hash.slice(1);
