import { recordedExamples } from '#contracts/recorded-examples';
import type { publicUrls } from '#platform/config/settings';
import type { ApiFacts } from '#platform/http/openapi';

/** The path of the description of the WebSocket and the event stream. */
export const ASYNCAPI_PATH = '/asyncapi.json';

/** The tags of the operations of the queue service. A controller names its tag with `@ApiTags`. */
const tags = {
  'waiting room': 'The line in front of a sale: join it, read the position, leave it.',
  internal: 'What the monolith calls. The ingress does not route these paths.',
};

/** What the queue service says about its API. */
export function apiFacts({ publicUrl, queuePublicUrl }: ReturnType<typeof publicUrls>): ApiFacts {
  const asyncApiUrl = `${queuePublicUrl}${ASYNCAPI_PATH}`;
  return {
    title: 'Tribina waiting room',
    description: `The line in front of a sale. The messages of \`/ws/{queue_token}\` and \`/sse/{queue_token}\` are the same JSON; [an AsyncAPI document](${asyncApiUrl}) describes them. Errors are application/problem+json with a stable \`code\`.`,
    url: queuePublicUrl,
    contactUrl: publicUrl,
    withKeys: false,
    tags,
    examples: recordedExamples.queueService,
    seeAlso: { url: asyncApiUrl, description: 'The messages of the WebSocket and of the event stream (AsyncAPI)' },
  };
}
