import { z } from 'zod';
import { idOf } from './answer-fields.ts';
import { pageOf, pageQuery } from './paging.ts';
import { quotaKinds, quotaKind } from './quota-kinds.ts';
import { emailAddress, idList, plainText, uuidField } from './text-fields.ts';

/** The most places that one request can name or ask for: all of a match. */
const MAX_PLACES = 120_000;
const MAX_MEMBERS = 100;
const MAX_SECTORS = 200;
/** A body of 2 MB holds about 50,000 ids. */
const MAX_NAMED_PLACES = 50_000;
const MAX_ITEMS = 500;

const time = z.iso.datetime({ offset: true });
const quantity = z.int().min(1).max(MAX_PLACES).meta({ description: 'How many places' });

const placesItem = z.union([
  z
    .strictObject({ sector_id: uuidField.meta({ description: 'The sector of the places' }), quantity })
    .meta({ description: 'So many places of one sector: whole rows and neighbours as far as possible' }),
  z
    .strictObject({
      seat_ids: idList(uuidField, MAX_NAMED_PLACES, 'names a place twice').meta({ description: 'Ids of the places' }),
    })
    .meta({ description: 'Exactly these places' }),
  z
    .strictObject({ quantity })
    .meta({ description: 'So many places of any sectors but those for people in wheelchairs: whole sectors first' }),
]);

/** Which places to take: all of them or none are taken. */
const places = z
  .array(placesItem)
  .min(1)
  .max(MAX_ITEMS)
  .refine((items) => {
    const named = items.flatMap((item) => ('seat_ids' in item ? item.seat_ids : []));
    return new Set(named).size === named.length;
  }, 'names a place twice')
  .meta({ description: 'All of these places or none' });
export type RequestedPlaces = z.output<typeof places>;

const onReturn = z.enum(['public', 'parent', 'keep']);
const kindList = z
  .array(quotaKind)
  .max(quotaKinds.length)
  .refine((kinds) => new Set(kinds).size === kinds.length, 'names a kind twice');
const members = z
  .array(uuidField)
  .max(MAX_MEMBERS)
  .refine((ids) => new Set(ids).size === ids.length, 'names a member twice');
const prices = z
  .record(uuidField, z.int().min(0).max(100_000_000))
  .refine((bySector) => Object.keys(bySector).length <= MAX_SECTORS, `must have at most ${MAX_SECTORS} sectors`);

const opensAt = time.nullable().meta({ description: 'From when on invitations can be claimed; null: at once' });
const claimUntil = time.nullable().meta({ description: 'Until when invitations can be claimed; null: until they end' });
const returnAt = time.nullable().meta({ description: 'When the free places go where `on_return` says; null: never' });

/** What an operator can set when creating a quota and change later. */
const settings = {
  name: plainText(100).meta({ description: 'For operators, partners and the invited' }),
  members: members.meta({ description: 'User ids of the partners who act for this quota and its descendants' }),
  contact_email: emailAddress.nullable().meta({ description: 'Is told about the return of unused places. Null: nobody' }),
  opens_at: opensAt,
  claim_until: claimUntil,
  return_at: returnAt,
  on_return: onReturn.meta({ description: 'Where free places go at `return_at`' }),
  never_to: kindList.meta({ description: 'Kinds of quotas to which places of this quota and its descendants never move' }),
  price_cents: prices.meta({ description: 'Sector id → price of one place; a missing sector has its ordinary price' }),
  max_per_invitation: z.int().min(1).max(20).meta({ description: 'The most places of one invitation' }),
};

export const createQuotaRequest = z
  .strictObject({
    name: settings.name,
    kind: quotaKind.meta({ description: 'What the quota is for. It never changes' }),
    parent_id: uuidField.nullable().optional().meta({ description: 'The places come from this quota. Null: from the public' }),
    members: settings.members.default([]),
    contact_email: settings.contact_email.optional(),
    places,
    opens_at: opensAt.optional(),
    claim_until: claimUntil.optional(),
    return_at: returnAt.optional(),
    on_return: settings.on_return.default('public'),
    never_to: settings.never_to.default([]),
    price_cents: settings.price_cents.default({}),
    max_per_invitation: settings.max_per_invitation.default(4),
    dry_run: z.boolean().default(false).meta({ description: 'Answers 200 with the places that would be taken, and takes none' }),
  })
  .meta({ id: 'CreateQuotaRequest' });

export const changeQuotaRequest = z
  .strictObject(settings)
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'must change something')
  .meta({ id: 'ChangeQuotaRequest', description: 'Omitted fields keep their value' });

const counts = z.object({
  total: z.int().meta({ description: 'free + invited + held + sold' }),
  free: z.int().meta({ description: 'Can be given to somebody or moved' }),
  invited: z.int().meta({ description: 'Bound to an open invitation that nobody claims now' }),
  held: z.int().meta({ description: 'Held by an invited fan, or bound to a move that waits for an approval' }),
  sold: z.int().meta({ description: 'With a ticket' }),
});
export type QuotaCounts = z.infer<typeof counts>;

/** A quota as operators and its partners see it. */
export const quotaAnswer = z
  .object({
    id: idOf('quota'),
    match_id: idOf('match'),
    parent_id: z.guid().nullable().meta({ description: 'Null for a quota whose places came from the public' }),
    name: z.string().meta({ description: 'Name of the quota' }),
    kind: quotaKind.meta({ description: 'What the quota is for' }),
    members: z.array(z.guid()).meta({ description: 'User ids of the partners who act for the quota' }),
    contact_email: z
      .string()
      .nullable()
      .meta({ description: 'Address that is told about the return of unused places. Null: nobody is told' }),
    opens_at: z.iso.datetime().nullable().meta({ description: 'From when on invitations can be claimed. Null: at once' }),
    claim_until: z.iso.datetime().nullable().meta({ description: 'Until when invitations can be claimed. Null: until they end' }),
    return_at: z.iso.datetime().nullable().meta({ description: 'When the free places go where `on_return` says. Null: never' }),
    on_return: onReturn.meta({ description: 'Where free places go at `return_at`' }),
    never_to: z.array(quotaKind).meta({ description: 'Kinds of quotas to which its places never move' }),
    price_cents: z
      .record(z.guid(), z.int())
      .meta({ description: 'Sector id → price of one place, in cents. A missing sector has its ordinary price' }),
    max_per_invitation: z.int().meta({ description: 'The most places of one invitation' }),
    status: z.enum(['open', 'returned']).meta({ description: '`returned` once `return_at` has taken effect' }),
    returned_at: z.iso.datetime().nullable().meta({ description: 'When the places went back. Null: they have not' }),
    created_at: z.iso.datetime().meta({ description: 'When the quota was created' }),
    places: counts.meta({ description: 'Its own places, without those of its descendants' }),
    subtree: counts.meta({ description: 'Its places and those of all its descendants' }),
    by_sector: z
      .array(
        z.object({
          sector_id: idOf('sector'),
          total: z.int().meta({ description: 'Places of the quota in the sector' }),
          free: z.int().meta({ description: 'Those that can be given to somebody or moved' }),
        }),
      )
      .meta({ description: 'Its own places in each sector where it has some' }),
  })
  .meta({ id: 'Quota' });
export type Quota = z.infer<typeof quotaAnswer>;

export const quotaListAnswer = pageOf(quotaAnswer).meta({ id: 'QuotaList' });

const range = z.object({
  from: z.int().meta({ description: 'Number of the first seat' }),
  to: z.int().meta({ description: 'Number of the last seat' }),
});

/** The places that a request would take. */
export const plannedPlacesAnswer = z
  .object({
    dry_run: z.literal(true).meta({ description: 'Nothing was taken' }),
    quantity: z.int().meta({ description: 'How many places would be taken' }),
    stranded: z
      .int()
      .meta({ description: 'Single free seats without a free neighbour that would be left and are not there now' }),
    by_sector: z
      .array(
        z.object({
          sector_id: idOf('sector'),
          quantity: z.int().meta({ description: 'Places of the sector' }),
          stranded: z.int().meta({ description: 'New single free seats in the sector' }),
          rows: z
            .array(
              z.object({
                row: z.string().meta({ description: 'The row' }),
                quantity: z.int().meta({ description: 'Places of the row' }),
                is_whole: z.boolean().meta({ description: 'Nothing that is free in the row is left' }),
                ranges: z.array(range).meta({ description: 'Neighbours, by their numbers' }),
              }),
            )
            .meta({ description: 'Empty for a standing sector' }),
          seat_ids: z.array(z.guid()).meta({ description: 'Ids of the places' }),
        }),
      )
      .meta({ description: 'The places by sector' }),
  })
  .meta({ id: 'PlannedPlaces' });
export type PlannedPlaces = z.infer<typeof plannedPlacesAnswer>;

export const movePlacesRequest = z
  .strictObject({
    to: z.union([z.literal('public'), uuidField]).meta({ description: '`public` or the id of a quota of the same match' }),
    places,
    reason: plainText(200).meta({ description: 'Why the places move, for the ledger' }),
    override: z
      .boolean()
      .default(false)
      .meta({ description: 'Asks for a move that a rule refuses: it waits for the approval of a second operator' }),
  })
  .meta({ id: 'MovePlacesRequest' });

const owner = z.union([z.literal('public'), z.guid()]);

/** A move: a row of the ledger, or a request that waits for a second operator. */
export const quotaMoveAnswer = z
  .object({
    id: idOf('move'),
    at: z.iso.datetime().meta({ description: 'When it happened; for a request, when it was made' }),
    kind: z
      .enum(['creation', 'move', 'return'])
      .meta({ description: 'Why the places moved: a new quota, a move by an operator, or the return' }),
    status: z
      .enum(['done', 'pending', 'rejected', 'expired'])
      .meta({ description: 'Only `done` has moved places. `pending`: the places are bound until a second operator decides' }),
    actor: z.string().meta({ description: 'User id of the operator, or `system`' }),
    approved_by: z
      .string()
      .nullable()
      .meta({ description: 'User id of the second operator. Null: none was needed, or none has decided' }),
    from: owner.meta({ description: 'Quota id, or `public`' }),
    to: owner.meta({ description: 'Quota id, or `public`' }),
    quantity: z.int().meta({ description: 'How many places' }),
    reason: z.string().meta({ description: 'What the operator wrote' }),
    rule: z.string().nullable().meta({ description: 'The rule that the move overrides; null if it breaks none' }),
    expires_at: z.iso.datetime().nullable().meta({ description: 'When a pending move ends by itself; else null' }),
  })
  .meta({ id: 'QuotaMove' });
export type QuotaMove = z.infer<typeof quotaMoveAnswer>;

export const quotaMoveListAnswer = pageOf(quotaMoveAnswer).meta({ id: 'QuotaMoveList' });

export const quotaMoveQuery = pageQuery.extend({
  status: z
    .enum(['done', 'pending'])
    .default('done')
    .meta({ description: '`done`: the ledger, oldest first; `pending`: what waits for a second operator' }),
});

/** The public summary of who gets the places of a match. */
export const allocationAnswer = z
  .object({
    capacity: z.int().meta({ description: 'All places of the match' }),
    public: z
      .object({
        total: z.int().meta({ description: 'Places that belong to no quota' }),
        available: z.int().meta({ description: 'Places that a fan can hold now' }),
        held: z.int().meta({ description: 'Places in a hold or in a checkout' }),
        sold: z.int().meta({ description: 'Places with a ticket' }),
      })
      .meta({ description: 'The part that is for sale to everybody' }),
    quotas: z
      .array(
        z.object({
          kind: quotaKind.meta({ description: 'What the quotas are for' }),
          total: z.int().meta({ description: 'Places now' }),
          sold: z.int().meta({ description: 'Places with a ticket' }),
          returned: z.int().meta({ description: 'Places that went back to the public' }),
        }),
      )
      .meta({ description: 'One item for each kind of quota that the match has' }),
  })
  .meta({ id: 'Allocation' });
export type Allocation = z.infer<typeof allocationAnswer>;
