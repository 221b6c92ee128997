import { z } from 'zod';
import { pageOf, pageQuery } from './paging.ts';
import { searchText, uuidField } from './text-fields.ts';

const time = (description: string) => z.iso.datetime({ offset: true }).optional().meta({ description });

/** The query parameters of `GET /ops/audit`. The filters can be combined. */
export const auditQuery = pageQuery.extend({
  actor: uuidField.optional().meta({ description: 'Only what this operator or partner did' }),
  action: z
    .string()
    .regex(/^[A-Za-z]{1,100}$/, 'is not an operation id')
    .optional()
    .meta({ description: 'Only calls of this operation, such as `refundOrder`' }),
  target: searchText(200).meta({
    description: 'Only calls about the object with this id: a match, an order, a fan, a job, a quota …',
  }),
  match_id: uuidField.optional().meta({ description: 'Only calls about this match, its orders, quotas, moves and invitations' }),
  since: time('Only calls at this time or later'),
  until: time('Only calls before this time'),
});
export type AuditQuery = z.output<typeof auditQuery>;

const fields = (description: string) => z.record(z.string(), z.unknown()).nullable().meta({ description });

export const auditEntryAnswer = z
  .object({
    id: z.guid().meta({ description: 'Id of the entry' }),
    at: z.iso.datetime().meta({ description: 'When it was recorded, before the call was answered' }),
    actor: z.string().meta({ description: 'User id of the operator or partner' }),
    roles: z.array(z.string()).meta({ description: 'The roles in the token of this call' }),
    action: z.string().meta({ description: 'The operation id of the call' }),
    target: z
      .object({
        type: z.string().meta({ description: 'match, order, fan, job, quota, move, invitation or audit' }),
        id: z.string().nullable().meta({ description: 'Null for a call about no single object, such as a list' }),
      })
      .meta({ description: 'What the call was about' }),
    match_id: z
      .guid()
      .nullable()
      .meta({ description: 'The match that the target belongs to. Null if it belongs to none, or for a read' }),
    before: fields('The former values of the fields that changed. Null if there was no such object, or for a read'),
    after: fields(
      'The new values of these fields. Personal data and free text are not recorded: then the value is `[not recorded]`. Null if the object is gone, or for a read',
    ),
    request_id: z.string().meta({ description: 'The request id, under which logs have the call' }),
    address: z.string().meta({ description: 'IP address of the caller' }),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof auditEntryAnswer>;

export const auditPageAnswer = pageOf(auditEntryAnswer).meta({ id: 'AuditLog' });
