import { z } from 'zod';
import { idOf } from './answer-fields.ts';
import { profileAnswer } from './fans.ts';
import { invitationStatus } from './invitations.ts';
import { orderAnswer } from './orders.ts';
import { reservationAnswer } from './reservations.ts';
import { ticketAnswer } from './tickets.ts';
import { transferAnswer } from './transfers.ts';

const device = z.object({
  device_id: z.string().meta({ description: 'The id that the app gave this device' }),
  updated_at: z.iso.datetime().meta({ description: 'When the device was registered last' }),
});

const order = orderAnswer.extend({
  email: z.string().meta({ description: 'Address that the fan gave at checkout' }),
  holders: z
    .array(
      z.object({
        seat_id: idOf('seat'),
        name: z.string().meta({ description: 'Name that the fan gave for the ticket' }),
      }),
    )
    .meta({ description: 'The names that the fan gave at checkout' }),
  payment: z
    .object({
      provider: z.string().meta({ description: 'The payment provider' }),
      intent_id: z.string().nullable().meta({ description: 'Id of the payment at the provider. Null: there was none' }),
    })
    .meta({ description: 'Where the order was paid. We keep no data of cards' }),
});

const invitation = z.object({
  id: idOf('invitation'),
  reservation_id: idOf('reservation that the claim made'),
  match_id: idOf('match'),
  quantity: z.int().meta({ description: 'How many places' }),
  status: invitationStatus.exclude(['held']).meta({ description: '`open`: also while a fan holds its places' }),
  email: z.string().nullable().meta({
    description: 'Address to which it was sent. Null: the invitation names no fan, so it may be the address of somebody else',
  }),
  name: z.string().nullable().meta({ description: 'Name of the invited person. Null: not given, or as for `email`' }),
  created_at: z.iso.datetime().meta({ description: 'When it was issued' }),
});

const turn = z.object({
  match_id: idOf('match'),
  created_at: z.iso.datetime().meta({ description: 'When the turn began' }),
  expires_at: z.iso.datetime().meta({ description: 'When the window was to end' }),
  ended_at: z.iso.datetime().nullable().meta({ description: 'When it ended before. Null: it did not' }),
  end_reason: z.string().nullable().meta({ description: 'Why it ended before. Null: it did not' }),
});

const blacklistChange = z.object({
  action: z.enum(['list', 'lift']).meta({ description: '`list`: put on the list. `lift`: taken off' }),
  at: z.iso.datetime().meta({ description: 'When an operator did it' }),
  until: z.iso.datetime().nullable().meta({ description: 'When the entry was to end. Null: without an end, and for `lift`' }),
});

/** The lists of an export, each with the schema of its items. */
const lists = {
  devices: z.array(device).meta({ description: 'Devices that get pushes' }),
  reservations: z.array(reservationAnswer).meta({ description: 'Holds of all states, newest first' }),
  orders: z.array(order).meta({ description: 'Orders of all states, newest first' }),
  tickets: z.array(ticketAnswer.omit({ code: true })).meta({ description: 'Tickets of all states, newest first' }),
  transfers: z.array(transferAnswer).meta({ description: 'Offers of tickets that the fan made or got, newest first' }),
  invitations: z.array(invitation).meta({ description: 'Invitations that the fan claimed, newest claim first' }),
  turns: z.array(turn).meta({ description: 'Turns that waiting rooms granted' }),
  blacklist: z.array(blacklistChange).meta({ description: 'The last 100 changes of the entry on the blacklist, newest first' }),
};

export const fanExportAnswer = z
  .object({
    user_id: idOf('fan'),
    exported_at: z.iso.datetime().meta({ description: 'When the export began' }),
    profile: profileAnswer.meta({ description: 'The profile' }),
    ...lists,
  })
  .meta({ id: 'FanExport' });
type FanExport = z.infer<typeof fanExportAnswer>;

export type ExportedList = keyof typeof lists;
export type ExportedItem<List extends ExportedList> = FanExport[List][number];

/** The names of the lists, in the order of the answer. */
export const exportedLists = Object.keys(lists) as ExportedList[];
