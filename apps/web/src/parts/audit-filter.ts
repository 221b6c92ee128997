import { isUuid } from '../routes.ts';

/** What the fields of the filter contain. An empty field does not restrict the list. */
export interface AuditFilterInput {
  readonly actor: string;
  readonly action: string;
  readonly matchId: string;
  readonly target: string;
  /** Local times, as the browser's field for times writes them. */
  readonly since: string;
  readonly until: string;
}

export const emptyAuditFilter: AuditFilterInput = { actor: '', action: '', matchId: '', target: '', since: '', until: '' };

/** The filter as the API takes it. Undefined if the operator is no UUID. */
export function auditQueryOf({ actor, action, matchId, target, since, until }: AuditFilterInput) {
  const [wantedActor, wantedTarget] = [actor.trim(), target.trim()];
  if (wantedActor !== '' && !isUuid(wantedActor)) return undefined;
  return {
    ...(wantedActor ? { actor: wantedActor } : {}),
    ...(action ? { action } : {}),
    ...(matchId ? { match_id: matchId } : {}),
    ...(wantedTarget ? { target: wantedTarget } : {}),
    ...(since ? { since: new Date(since).toISOString() } : {}),
    ...(until ? { until: new Date(until).toISOString() } : {}),
  };
}

/** A field of an entry with its two values, as text. Undefined: there is no such value. */
export interface ChangedField {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

type Fields = Readonly<Record<string, unknown>> | null;

/** The fields of an entry, with the old and the new value side by side. */
export function changedFields({ before, after }: { readonly before: Fields; readonly after: Fields }): readonly ChangedField[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.map((name) => ({ name, before: textOf(before, name), after: textOf(after, name) }));
}

function textOf(fields: Fields, name: string): string | undefined {
  const value = fields?.[name];
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
