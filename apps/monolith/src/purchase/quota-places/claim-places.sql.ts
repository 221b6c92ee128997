import { namedSql } from '#platform/postgres/named-sql';
import { seatIsHeld } from '../seat-is-free.api.ts';

/** A place of an invitation, locked. */
export interface InvitedPlace {
  readonly seatId: string;
  readonly rowIndex: number;
  readonly number: number | null;
  /** The reservation that holds or has bought the place now. Null if nobody has it. */
  readonly reservationId: string | null;
  /** True if the place is bound to the invitation. */
  readonly isBound: boolean;
}

/** A place that a claim holds now. */
export interface HeldPlace {
  readonly seatId: string;
  readonly row: string | null;
  readonly number: number | null;
  readonly expiresAt: Date;
}

/** Locks the places of an invitation, in the order of their ids, like all code that waits for locks of seats. */
export const LOCK_INVITED_PLACES = namedSql<{ readonly seatIds: readonly string[]; readonly invitationId: string }>(
  'lock-invited-places',
  `
  select id as "seatId", row_index as "rowIndex", number, coalesce(bound_to = :invitationId::uuid, false) as "isBound",
         case when status = 'sold' or ${seatIsHeld('seats')} then reservation_id end as "reservationId"
  from seats where id = any(:seatIds::uuid[]) order by id for update`,
);

/** A claim to write: its reservation and the places that it gets. */
export interface InvitedPlacesToHold {
  readonly id: string;
  readonly invitationId: string;
  readonly matchId: string;
  readonly sectorId: string;
  readonly sector: string;
  readonly userId: string;
  readonly seatIds: readonly string[];
  readonly priceCents: number;
  readonly currency: string;
  readonly together: boolean;
  readonly until: Date;
}

/**
 * Holds locked places for a claim: writes its reservation and gives it the places. The reservation is not in `fan_seats`, because
 * it counts for nobody. Nothing is written if `until` has passed: then the result has no row.
 */
export const HOLD_INVITED_PLACES = namedSql<InvitedPlacesToHold & { readonly holdSeconds: number }>(
  'hold-invited-places',
  `
  with reserved as (
    insert into reservations (id, invitation_id, match_id, sector_id, user_id, status, seat_ids, quantity, sector, price_cents, together,
                              total_cents, currency, expires_at)
    select :id::uuid, :invitationId::uuid, :matchId::uuid, :sectorId::uuid, :userId::uuid, 'held', :seatIds::uuid[],
           cardinality(:seatIds::uuid[]), :sector::text, :priceCents::int, :together::bool,
           :priceCents::int * cardinality(:seatIds::uuid[]), :currency::text, hold_end
    from (select least(date_trunc('milliseconds', now() + make_interval(secs => :holdSeconds)),
                       date_trunc('milliseconds', :until::timestamptz)) as hold_end) h
    where hold_end > now() returning id, expires_at
  )
  update seats set status = 'held', reservation_id = reserved.id, expires_at = reserved.expires_at
  from reserved where seats.id = any(:seatIds::uuid[])
  returning seats.id as "seatId", row_label as row, number, reserved.expires_at as "expiresAt"`,
);

/**
 * What has become of claims. A claim is also paid if an earlier claim of its invitation was: a payment that came after the end of
 * its hold, when a later hold had ended too, completed that one.
 */
export const READ_CLAIM_STATES = namedSql<{ readonly ids: readonly string[] }>(
  'read-claim-states',
  `
  select r.id, case when exists (select from reservations c where c.invitation_id = r.invitation_id and c.status = 'completed') then 'paid'
                    when r.status in ('held', 'ordered') and r.expires_at > now() then 'held' else 'over' end as state
  from reservations r where r.id = any(:ids::uuid[])`,
);
