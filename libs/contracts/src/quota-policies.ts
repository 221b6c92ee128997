import { z } from 'zod';
import { quotaKind } from './quota-kinds.ts';
import { plainText } from './text-fields.ts';

const percent = z.number().min(0).max(100).meta({ description: 'Percent of the capacity of the match' });
/** Says what a rule checks. */
const ruleType = <T extends string>(type: T) => z.literal(type).meta({ description: 'What the rule checks' });
const facts = {
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be lower case words joined by hyphens')
    .meta({ description: 'Name of the rule, unique in its policy' }),
  article: plainText(100).meta({ description: 'Where the rule stands, for example an article and its paragraph' }),
  text: plainText(500).meta({ description: 'The rule in own words, for operators' }),
};
const ofKind = { kind: quotaKind.meta({ description: 'The quotas that the rule is about' }) };

/** One rule of a policy. `type` selects what is checked. */
const policyRule = z.discriminatedUnion('type', [
  z.strictObject({ ...facts, ...ofKind, type: ruleType('min_share'), percent }).meta({
    description: 'The quotas of the kind were given at least so many percent of the capacity',
  }),
  z
    .strictObject({
      ...facts,
      ...ofKind,
      type: ruleType('min_places'),
      places: z.int().min(1).meta({ description: 'How many places' }),
    })
    .meta({
      description: 'The quotas of the kind were given at least so many places',
    }),
  z.strictObject({ ...facts, ...ofKind, type: ruleType('own_sectors') }).meta({
    description: 'No sector with places of the kind has places of anybody else for sale or sold',
  }),
  z.strictObject({ ...facts, ...ofKind, type: ruleType('one_sector') }).meta({
    description: 'The places of each quota of the kind are in one sector',
  }),
  z
    .strictObject({
      ...facts,
      ...ofKind,
      type: ruleType('max_price_cents'),
      cents: z.int().min(0).meta({ description: 'The highest price, in cents' }),
    })
    .meta({
      description: 'No place of the kind costs more',
    }),
  z
    .strictObject({
      ...facts,
      ...ofKind,
      type: ruleType('return_by_days'),
      days: z.int().min(0).max(365).meta({ description: 'Days before kick-off' }),
    })
    .meta({
      description: 'The quotas of the kind return unused places at least so many days before kick-off',
    }),
  z
    .strictObject({
      ...facts,
      ...ofKind,
      type: ruleType('never_back_to'),
      to: quotaKind.meta({ description: 'The kind to which no place goes' }),
    })
    .meta({
      description: 'The quotas of the kind name `to` in `never_to`, and no place that left them is in a quota of the kind `to`',
    }),
  z.strictObject({ ...facts, type: ruleType('min_public_share'), percent }).meta({
    description: 'At least so many percent of the capacity belong to the public',
  }),
]);
export type PolicyRule = z.infer<typeof policyRule>;

/** Rules of a competition about quotas, as data: `policies/<name>.json`. */
export const policySchema = z
  .strictObject({
    name: facts.id.meta({ description: 'The name of its file without `.json`' }),
    title: plainText(200).meta({ description: 'Title of the policy' }),
    source: plainText(300).meta({ description: 'The document, its edition, and its address' }),
    rules: z
      .array(policyRule)
      .min(1)
      .max(50)
      .refine((rules) => new Set(rules.map(({ id }) => id)).size === rules.length, 'has two rules with the same id')
      .meta({ description: 'The rules' }),
  })
  .meta({ id: 'QuotaPolicy' });
export type QuotaPolicy = z.infer<typeof policySchema>;

export const checkPolicyRequest = z
  .strictObject({
    policy: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be the name of a policy')
      .meta({ description: 'The name of a file in `policies/`, without `.json`', example: 'uefa-conference-league-2023-24' }),
  })
  .meta({ id: 'CheckPolicyRequest' });

const policySummary = z.object({
  name: z.string().meta({ description: 'Name of the policy' }),
  title: z.string().meta({ description: 'Title of the policy' }),
  source: z.string().meta({ description: 'The document that the policy quotes' }),
});

/** The policies that quotas can be checked against. */
export const policyListAnswer = z
  .object({ items: z.array(policySummary).meta({ description: 'All policies, by name' }) })
  .meta({ id: 'QuotaPolicyList' });
export type PolicySummary = z.infer<typeof policySummary>;

/** Whether the quotas of a match keep a policy. */
export const policyCheckAnswer = z
  .object({
    policy: policySummary.meta({ description: 'The policy that was checked' }),
    ok: z.boolean().meta({ description: 'Whether all rules are kept' }),
    rules: z
      .array(
        z.object({
          id: z.string().meta({ description: 'Name of the rule in its policy' }),
          article: z.string().meta({ description: 'The article that the rule quotes' }),
          text: z.string().meta({ description: 'The rule in words' }),
          ok: z.boolean().meta({ description: 'Whether the rule is kept' }),
          breaches: z
            .array(
              z.object({
                quota_id: z
                  .guid()
                  .nullable()
                  .meta({ description: 'The quota that breaks the rule; null for the match as a whole' }),
                message: z.string().meta({ description: 'How the rule is broken, for people' }),
              }),
            )
            .meta({ description: 'What breaks the rule. Empty if it is kept' }),
        }),
      )
      .meta({ description: 'The result for each rule of the policy' }),
  })
  .meta({ id: 'PolicyCheck' });
export type PolicyCheck = z.infer<typeof policyCheckAnswer>;
