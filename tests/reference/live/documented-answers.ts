import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Document } from '../openapi-document.ts';

/** An answer as it came over HTTP. */
export interface LiveAnswer {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly status: number;
  readonly type: string | undefined;
  readonly body: string;
}

interface Place {
  readonly template: string;
  readonly pattern: RegExp;
}

const pointer = (...parts: readonly string[]): string =>
  parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Compares answers with an OpenAPI document by ajv, as a client's tools would. */
export class DocumentedAnswers {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  private readonly places: readonly Place[];
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(readonly document: Document) {
    formats.default(this.ajv);
    this.ajv.addSchema(document as object, 'document');
    this.places = Object.keys(document.paths).map((template) => ({
      template,
      pattern: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    }));
  }

  /** `GET /api/v1/matches/{id}`; undefined when the document does not know such a call. */
  operationOf({ method, path }: Pick<LiveAnswer, 'method' | 'path'>): string | undefined {
    const place = this.places.find(
      ({ template, pattern }) => pattern.test(path) && method.toLowerCase() in (this.document.paths[template] ?? {}),
    );
    return place && `${method} ${place.template}`;
  }

  /** What is wrong with this answer; nothing when the document says that it may come. */
  faultsOf(answer: LiveAnswer): string[] {
    const operation = this.operationOf(answer);
    if (!operation) return ['no such operation'];
    const template = operation.slice(answer.method.length + 1);
    const method = answer.method.toLowerCase();
    const response = this.document.paths[template]?.[method]?.responses[String(answer.status)];
    // `default` is for what belongs to no call: a client cannot prepare for a status that is not named.
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

  /** Is this a body that the call takes? */
  takes(operation: string, body: unknown): boolean {
    const [method = '', template = ''] = operation.split(' ');
    const at = pointer('paths', template, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema');
    return this.validator(at)(body);
  }

  private validator(at: string): ValidateFunction {
    const known = this.compiled.get(at);
    if (known) return known;
    const validate = this.ajv.compile({ $ref: `document#${encodeURI(at)}` });
    this.compiled.set(at, validate);
    return validate;
  }
}
