import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { DocumentedResponse, OpenApiDocument } from '../openapi-document.ts';

/** An HTTP answer of a running service. */
export interface LiveAnswer {
  readonly method: string;
  /** The path of the request without the query. */
  readonly path: string;
  readonly status: number;
  readonly type: string | undefined;
  readonly body: string;
}

interface PathPattern {
  readonly template: string;
  readonly pattern: RegExp;
}

const pointer = (...parts: readonly string[]): string =>
  parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Validates answers against an OpenAPI document with the JSON Schema validator ajv, as the tools of a client do. */
export class DocumentedAnswers {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  private readonly pathPatterns: readonly PathPattern[];
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(readonly document: OpenApiDocument) {
    formats.default(this.ajv);
    this.ajv.addSchema(document as object, 'document');
    this.pathPatterns = Object.keys(document.paths).map((template) => ({
      template,
      pattern: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    }));
  }

  /** The documented operation of a call, such as `GET /api/v1/matches/{id}`. Undefined if the document has no operation for it. */
  operationOf({ method, path }: Pick<LiveAnswer, 'method' | 'path'>): string | undefined {
    const match = this.pathPatterns.find(
      ({ template, pattern }) => pattern.test(path) && method.toLowerCase() in (this.document.paths[template] ?? {}),
    );
    return match && `${method} ${match.template}`;
  }

  /** The documented response of the answer's operation and status. */
  responseTo(answer: Pick<LiveAnswer, 'method' | 'path' | 'status'>): DocumentedResponse | undefined {
    const template = this.operationOf(answer)?.slice(answer.method.length + 1) ?? '';
    return this.document.paths[template]?.[answer.method.toLowerCase()]?.responses[String(answer.status)];
  }

  /** Differences between an answer and the document. Empty if the answer is as documented. */
  faultsOf(answer: LiveAnswer): string[] {
    const operation = this.operationOf(answer);
    if (!operation) return ['no such operation'];
    const template = operation.slice(answer.method.length + 1);
    const method = answer.method.toLowerCase();
    const response = this.responseTo(answer);
    // The documented `default` response does not count: a client cannot prepare for a status that the operation does not name.
    if (!response) return [`status ${answer.status} is not documented`];
    if (!response.content) return answer.body === '' ? [] : ['a body where none is documented'];
    const type = answer.type?.split(';')[0]?.trim() ?? '';
    if (!(type in response.content)) return [`content type ${type} is not documented`];
    if (!type.endsWith('json')) return [];
    const validate = this.validator(
      pointer('paths', template, method, 'responses', String(answer.status), 'content', type, 'schema'),
    );
    if (validate(JSON.parse(answer.body))) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'the answer'} ${message}`);
  }

  /** Whether the document allows this request body for the operation. */
  allowsBody(operation: string, body: unknown): boolean {
    const [method = '', template = ''] = operation.split(' ');
    const schemaPointer = pointer(
      'paths',
      template,
      method.toLowerCase(),
      'requestBody',
      'content',
      'application/json',
      'schema',
    );
    return this.validator(schemaPointer)(body);
  }

  private validator(schemaPointer: string): ValidateFunction {
    const cached = this.compiled.get(schemaPointer);
    if (cached) return cached;
    const validate = this.ajv.compile({ $ref: `document#${encodeURI(schemaPointer)}` });
    this.compiled.set(schemaPointer, validate);
    return validate;
  }
}
