import type { OperationExamples, ServiceExamples } from '#contracts/recorded-examples';
import { fieldsOf as fieldsOfSchema, type OpenApi } from '../../bad-input/documented.ts';
import { operationsOf } from '../openapi-document.ts';
import type { DocumentedAnswers } from './documented-answers.ts';
import { InventedValues } from './invented-values.ts';
import type { RecordedAnswer } from './recording-client.ts';

/** Paths of all fields of a JSON value, such as `seats[].row`. */
function fieldsOfValue(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOfValue(item, `${path}[]`));
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const memberPath = path === '' ? name : `${path}.${name}`;
    return [memberPath, ...fieldsOfValue(member, memberPath)];
  });
}

/** The fields of a value that its schema describes. What is below a field without described members, such as a payload, is left out. */
export function describedFields(value: unknown, described: ReadonlySet<string>): { known: Set<string>; unknown: string[] } {
  const isOpen = (path: string): boolean =>
    ![...described].some((name) => name.startsWith(`${path}.`) || name.startsWith(`${path}[`));
  const known = new Set<string>();
  const unknown: string[] = [];
  for (const field of fieldsOfValue(value)) {
    if (described.has(field)) known.add(field);
    else if (![...described].some((name) => isOpen(name) && (field.startsWith(`${name}.`) || field.startsWith(`${name}[`))))
      unknown.push(field);
  }
  return { known, unknown };
}

/** Chooses the examples of a service from the recorded answers. */
export class ChosenExamples {
  private readonly api: OpenApi;

  constructor(
    private readonly documented: DocumentedAnswers,
    private readonly recorded: readonly RecordedAnswer[],
    private readonly stored: ServiceExamples,
  ) {
    this.api = documented.document as unknown as OpenApi;
  }

  all(): ServiceExamples {
    const operations = operationsOf(this.documented.document).map(({ path, method, operation }) => {
      const ofOperation = this.recorded.filter((answer) => this.documented.operationOf(answer) === `${method} ${path}`);
      const examples = this.ofOperation({ path, method, id: operation.operationId }, ofOperation);
      return [operation.operationId, examples] as const;
    });
    return { operations: sorted(operations), problems: sorted(this.problems()) };
  }

  private ofOperation(
    { path, method, id }: { path: string; method: string; id: string },
    recorded: readonly RecordedAnswer[],
  ): OperationExamples {
    const { responses, requestBody } = this.api.paths[path]?.[method.toLowerCase()] ?? { responses: {} };
    const answers = Object.entries(responses).flatMap(([status, { content }]) => {
      const [type, { schema } = {}] = Object.entries(content ?? {})[0] ?? [];
      if (!status.startsWith('2') || !schema) return [];
      const ofStatus = recorded.filter((answer) => String(answer.status) === status);
      const stored = this.stored.operations[id]?.answers[status];
      if (type === 'text/event-stream') return [[status, stored ?? this.stream(path, ofStatus)] as const];
      if (type !== 'application/json') return [];
      const values = ofStatus.map(({ body }): unknown => JSON.parse(body));
      return [[status, this.choose({ path, stored, values, described: fieldsOfSchema(schema, this.api) })] as const];
    });
    const requests = requestBody?.content['application/json'] ? this.requests({ path, method, id }, recorded) : {};
    return { ...(Object.keys(requests).length > 0 ? { requests } : {}), answers: sorted(answers) };
  }

  private stream(path: string, [first]: readonly RecordedAnswer[]): string | undefined {
    return first && new InventedValues(path).ofStream(first.body);
  }

  /** The bodies of successful calls, one for each set of fields that is not part of another set. */
  private requests(
    operation: { path: string; method: string; id: string },
    recorded: readonly RecordedAnswer[],
  ): Record<string, unknown> {
    const { path, method, id } = operation;
    const bodies = new Map<string, unknown>();
    for (const { status, request } of recorded) {
      const name = Object.keys((request ?? {}) as object).join(', ');
      if (status < 300 && name !== '' && !bodies.has(name)) bodies.set(name, request);
    }
    const names = [...bodies.keys()];
    const isPart = (part: string, whole: string) =>
      part !== whole && part.split(', ').every((field) => whole.split(', ').includes(field));
    const maximal = names.filter((name) => !names.some((other) => isPart(name, other)));
    return sorted(
      maximal.map((name) => {
        const stored = this.stored.operations[id]?.requests?.[name];
        const isValid = stored !== undefined && this.documented.allowsBody(`${method} ${path}`, stored);
        return [name, isValid ? stored : new InventedValues(path).of(bodies.get(name))] as const;
      }),
    );
  }

  private problems(): (readonly [string, object])[] {
    const codes = new Map<string, { path: string; value: object }[]>();
    for (const { type, body, path } of this.recorded) {
      if (!type?.startsWith('application/problem+json') || body === '') continue;
      const value = JSON.parse(body) as { code: string };
      codes.set(value.code, [...(codes.get(value.code) ?? []), { path, value }]);
    }
    return [...codes].map(([code, found]) => {
      const name = Object.entries(this.api.components.schemas).find(([, schema]) => schema.properties?.code?.const === code)?.[0];
      const described = fieldsOfSchema({ $ref: `#/components/schemas/${name ?? 'Problem'}` }, this.api);
      const stored = (this.stored.problems as Readonly<Record<string, object>>)[code];
      const chosen = this.choose({ path: found[0]?.path ?? '', stored, values: found.map(({ value }) => value), described });
      return [code, chosen as object] as const;
    });
  }

  /**
   * The stored example, if it has all described fields of the richest recorded answer and no others; else this answer with invented
   * values. So an example changes only when the answers change.
   */
  private choose(choice: { path: string; stored: unknown; values: readonly unknown[]; described: ReadonlySet<string> }): unknown {
    const { path, stored, values, described } = choice;
    const known = (value: unknown) => describedFields(value, described).known;
    const [richest] = [...values].sort((a, b) => known(b).size - known(a).size);
    const isCurrent =
      stored !== undefined &&
      describedFields(stored, described).unknown.length === 0 &&
      [...known(richest)].every((field) => known(stored).has(field));
    return isCurrent ? stored : new InventedValues(path).of(richest);
  }
}

const sorted = <T>(entries: readonly (readonly [string, T])[]): Record<string, T> =>
  Object.fromEntries(entries.filter(([, value]) => value !== undefined).sort(([a], [b]) => (a < b ? -1 : 1)));
