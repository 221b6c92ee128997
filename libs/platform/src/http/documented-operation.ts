import { STATUS_CODES } from 'node:http';
import { rowOf, type ErrorCode } from '#contracts/error-catalogue';
import type { OperationExamples } from '#contracts/recorded-examples';
import { rolesWith } from '#contracts/roles';
import { headersOf } from './documented-headers.ts';
import { describePathParameters, type Parameter } from './documented-parameters.ts';
import { refusalResponses } from './documented-refusals.ts';
import type { EndpointRules } from './endpoint.ts';

/** Mark of an optional body schema: the conversion of the schema sets it, `completeOperation` reads and removes it. */
export const OPTIONAL_BODY = 'x-may-be-left-out';

interface Content {
  schema?: Record<string, unknown>;
  example?: unknown;
  examples?: Record<string, object>;
}
interface Response {
  description: string;
  content?: Record<string, Content>;
  headers?: Record<string, object>;
}
/** An operation of the OpenAPI document that Nest builds. */
export interface Operation {
  operationId?: string;
  requestBody?: { required?: boolean; content: Record<string, Content> };
  responses?: Record<string, Response>;
  security?: unknown[];
  parameters?: Parameter[];
  description?: string;
  'x-access'?: string;
  'x-roles'?: readonly string[];
}

/** The code of a defect. Every operation documents it in its `default` response. */
export const DEFECT = 'INTERNAL_ERROR' satisfies ErrorCode;

/** How a caller without a role proves its access; undefined for a call that needs a role. */
function securityWithoutRole(access: EndpointRules['access']): unknown[] | undefined {
  if (access === 'public') return [];
  if (access === 'fan') return [{ bearer: [] }, { mockUser: [] }];
  return access === 'internal' ? [{ internal: [] }] : undefined;
}

/** Documents who may call the operation. One of the roles is enough. */
function describeAccess(operation: Operation, access: EndpointRules['access']): void {
  operation.security = securityWithoutRole(access) ?? [{ bearer: [] }, { mockUser: [], mockRoles: [] }];
  operation['x-access'] = access;
  const roles = rolesWith(access);
  if (!roles) return;
  operation['x-roles'] = roles;
  operation.description = `${operation.description ?? ''}\n\nRoles: ${roles.map((role) => `\`${role}\``).join(', ')}.`.trim();
}

const keyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description: 'UUID v4, 32 lowercase hex digits. The same key and request is answered the same and done once.',
  schema: { type: 'string', pattern: '^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$' },
};

const knownVersionParameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'ETag of the answer that the caller has. If it is still current, the answer is 304 without a body.',
  schema: { type: 'string' },
};

/** What the declaration of a route says about its operation. */
interface OperationFacts {
  readonly path: string;
  readonly rules: EndpointRules;
  readonly needsKey: boolean;
  readonly codes: readonly ErrorCode[];
}

/** Adds to an operation what follows from the declaration of its route. */
export function completeOperation(operation: Operation, { path, rules, needsKey, codes }: OperationFacts): void {
  describeAccess(operation, rules.access);
  for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
    if (operation.requestBody && schema?.[OPTIONAL_BODY]) operation.requestBody.required = false;
    delete schema?.[OPTIONAL_BODY];
  }
  if (rules.csv && operation.requestBody) {
    const { description, example: value } = rules.csv;
    operation.requestBody.content['text/csv'] = { schema: { type: 'string', description }, examples: { list: { value } } };
  }
  const responses = (operation.responses ??= {});
  for (const [status, response] of Object.entries(responses)) response.description ||= STATUS_CODES[status] ?? 'Success';
  Object.assign(responses, refusalResponses(codes));
  responses.default = {
    description: 'A refusal of the connection (408, 431), or a defect (500).',
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: { [DEFECT]: { $ref: `#/components/examples/${DEFECT}` } },
      },
    },
  };
  const isCacheable = '304' in responses;
  for (const [status, response] of Object.entries(responses)) {
    const ofStatus = codes.filter((code) => String(rowOf(code).status) === status);
    response.headers = { ...headersOf({ status, rules, needsKey, isCacheable, codes: ofStatus }), ...response.headers };
  }
  const parameters = (operation.parameters ??= []);
  describePathParameters(path, parameters);
  if (isCacheable) parameters.push(knownVersionParameter);
  if (needsKey) parameters.push(keyParameter);
}

/** Adds the recorded request bodies and successes of an operation. */
export function addExamples({ requestBody, responses = {} }: Operation, examples: OperationExamples | undefined): void {
  for (const [status, value] of Object.entries(examples?.answers ?? {}))
    for (const content of Object.values(responses[status]?.content ?? {})) content.example = value;
  const requests = Object.entries(examples?.requests ?? {});
  if (requests.length === 0) return;
  const content = requestBody?.content['application/json'];
  if (content) content.examples = Object.fromEntries(requests.map(([fields, value]) => [fields, { summary: fields, value }]));
}
