import { recordedExamples } from '#contracts/recorded-examples';
import type { publicUrls } from '#platform/config/settings';
import type { ApiFacts } from '#platform/http/openapi';

/** The tags of the monolith's operations. A controller names its tag with `@ApiTags`. */
const tags = {
  matches: 'Matches, sectors and seats, for everybody.',
  purchase: 'From the hold of seats to the paid order.',
  tickets: 'The tickets of a fan, and their transfer to another fan.',
  me: 'The profile and the devices of the caller.',
  payments: 'What the payment provider calls.',
  sandbox: 'Plays the payment provider where no real one is set up.',
  quotas: 'Places that are set aside for an owner, and how they move: for operators and partners.',
  operations: 'What operators do. Each operation names the roles of which a caller needs one.',
};

const DESCRIPTION = `Matches, seats, holds, orders and tickets. Errors are application/problem+json with a stable \`code\`.

- JSON is snake_case. Times are RFC 3339 in UTC. Money is integer cents with an ISO 4217 currency.
- Lists are \`{items, next_cursor}\`. Answers may get further members at any time: ignore those that you do not know.
- Almost every POST, PUT and PATCH needs an \`Idempotency-Key\`; its parameters say so. If no answer comes, send the request again
  with the same key: it is done once.
- The waiting room is a service of its own, with a [description of its own](QUEUE_URL/docs).`;

/** What the monolith says about its API. */
export function apiFacts({ publicUrl, queuePublicUrl }: ReturnType<typeof publicUrls>): ApiFacts {
  return {
    title: 'Tribina',
    description: DESCRIPTION.replace('QUEUE_URL', queuePublicUrl),
    url: publicUrl,
    contactUrl: publicUrl,
    withKeys: true,
    tags,
    examples: recordedExamples.monolith,
  };
}
