import { z } from 'zod';
import { currency, idOf } from './answer-fields.ts';
import { pageOf } from './paging.ts';
import { seatLabel } from './reservations.ts';
import { emailAddress, personName, plainText, uuidField } from './text-fields.ts';

/** The most invitations of one list. */
export const MAX_INVITATIONS = 500;
/** The most places of one invitation, whatever the quota allows. */
export const MAX_PLACES_OF_INVITATION = 20;

/**
 * The token of an invitation, which only its mail contains: 256 random bits. Other lengths are read, too: a link that was cut or
 * continued by the mail program has an unknown token (404), and the request is not malformed.
 */
const token = z
  .string()
  .regex(/^inv_[\w-]{1,200}$/, 'is not the token of an invitation')
  .meta({ description: 'The part after `#` of the address in the mail' });

/** Partners read it in the verdict about a row, also of a CSV file, so it does not speak of types. */
const wholeNumber = `must be a whole number from 1 to ${MAX_PLACES_OF_INVITATION}`;

/** One person of a list. A row that is faulty is refused alone: the others are invited. */
export const invitationRow = z.strictObject({
  email: emailAddress.meta({ description: 'Gets the mail with the link' }),
  name: personName.optional().meta({ description: 'Name of the invited person, for partners and in the mail' }),
  user_id: uuidField.optional().meta({ description: 'If given, only this fan can claim the invitation' }),
  locale: z.enum(['hr', 'en'], 'must be hr or en').default('hr').meta({ description: 'Language of the mail' }),
  quantity: z
    .int(wholeNumber)
    .min(1, wholeNumber)
    .max(MAX_PLACES_OF_INVITATION, wholeNumber)
    .meta({ description: 'How many places' }),
  sector_id: uuidField.optional().meta({ description: 'Places of this sector. Without it any sector of the quota' }),
  note: plainText(200).optional().meta({ description: 'For partners only' }),
});
export type InvitationRow = z.output<typeof invitationRow>;

/** The names of the fields of a row. */
export const invitationFields = Object.keys(invitationRow.shape) as (keyof InvitationRow)[];

/** A field of a row with any value. */
const unchecked = (field: keyof InvitationRow) =>
  z.unknown().optional().meta({ description: invitationRow.shape[field].description });

const listKey = plainText(100).meta({
  description: 'Name of the list. The same address is invited once for each list key, however often the list is sent',
});
const expiresAt = z.iso
  .datetime({ offset: true })
  .meta({ description: 'When the invitations end. At the latest, and without it, at `claim_until` of the quota' });

/**
 * A list of people to invite. Here a row is only an object with known fields: what is wrong with their values is the verdict about the
 * row.
 */
export const inviteRequest = z
  .strictObject({
    list_key: listKey.optional(),
    dry_run: z.boolean().default(false).meta({ description: 'Answers the verdicts, binds nothing and sends nothing' }),
    expires_at: expiresAt.optional(),
    invitations: z
      .array(z.strictObject(Object.fromEntries(invitationFields.map((field) => [field, unchecked(field)]))))
      .min(1)
      .max(MAX_INVITATIONS)
      .meta({ description: 'The people: see the schema InvitationRow' }),
  })
  .meta({ id: 'InviteRequest' });

/** The settings of a list in CSV, as query parameters. */
export const inviteQuery = z.object({
  list_key: listKey.optional(),
  dry_run: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: 'Answers the verdicts, binds nothing and sends nothing' }),
  expires_at: expiresAt.optional(),
});

export const inviteAnswer = z
  .object({
    items: z
      .array(
        z.object({
          index: z.int().meta({ description: 'Position of the row in the list, from 0' }),
          status: z
            .enum(['created', 'duplicate', 'refused'])
            .meta({ description: '`duplicate`: the list has invited this address before, and nothing was sent' }),
          id: z.guid().optional().meta({ description: 'Id of the invitation. Not with `dry_run`' }),
          code: z.string().optional().meta({ description: 'Why the row is refused: `VALIDATION_FAILED` or `QUOTA_EXCEEDED`' }),
          message: z.string().optional().meta({ description: 'The reason in words' }),
        }),
      )
      .meta({ description: 'The verdict about each row, in the order of the rows' }),
  })
  .meta({ id: 'InviteAnswer' });
export type InviteAnswer = z.infer<typeof inviteAnswer>;

/** What has become of an invitation. */
export const invitationStatus = z.enum(['open', 'held', 'claimed', 'expired', 'withdrawn']);

/** An invitation as its partner and operators see it. */
export const invitationAnswer = z
  .object({
    id: idOf('invitation'),
    email: z.string().meta({ description: 'Address of the invited person' }),
    name: z.string().nullable().meta({ description: 'Name of the invited person. Null if it was not given' }),
    quantity: z.int().meta({ description: 'How many places' }),
    seats: z.array(seatLabel).meta({ description: 'The places that are bound to the invitation, or were' }),
    status: invitationStatus.meta({
      description: '`held`: claimed, and not paid yet. `claimed`: paid, or free of charge and ordered',
    }),
    expires_at: z.iso.datetime().meta({ description: 'When it ends' }),
    claimed_at: z.iso.datetime().nullable().meta({ description: 'When it was claimed last. Null: not yet' }),
    user_id: z.guid().nullable().meta({ description: 'The only fan who can claim it. Null: anybody with the link' }),
    note: z.string().nullable().meta({ description: 'What the partner wrote. Null: nothing' }),
    list_key: z.string().nullable().meta({ description: 'Key of the list that it came with. Null: the list had none' }),
    created_at: z.iso.datetime().meta({ description: 'When it was issued' }),
  })
  .meta({ id: 'Invitation' });
export type Invitation = z.infer<typeof invitationAnswer>;

export const invitationListAnswer = pageOf(invitationAnswer).meta({ id: 'InvitationList' });

export const invitationTokenRequest = z.strictObject({ token }).meta({ id: 'InvitationToken' });

/** What anybody with the link can see of an invitation. */
export const invitationLookupAnswer = z
  .object({
    match: z
      .object({
        id: idOf('match'),
        home: z.string().meta({ description: 'Home team' }),
        away: z.string().meta({ description: 'Away team' }),
        venue: z.string().meta({ description: 'Where it is played' }),
        kickoff_at: z.iso.datetime().meta({ description: 'Kick-off' }),
      })
      .meta({ description: 'The match' }),
    quota_name: z.string().meta({ description: 'Who invites' }),
    seats: z.array(seatLabel).meta({ description: 'The places' }),
    quantity: z.int().meta({ description: 'How many places' }),
    total_cents: z.int().meta({ description: 'The price of all places, in cents. 0: free of charge' }),
    currency,
    opens_at: z.iso.datetime().nullable().meta({ description: 'From when on it can be claimed. Null: at once' }),
    claim_until: z.iso.datetime().meta({ description: 'Until when it can be claimed' }),
    status: z
      .enum(['open', 'claimed', 'expired', 'withdrawn'])
      .meta({ description: '`claimed`: a fan holds or has bought the places' }),
  })
  .meta({ id: 'InvitationLookup' });
export type InvitationLookup = z.infer<typeof invitationLookupAnswer>;
