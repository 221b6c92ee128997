import type { RecordedChange, RecordedFields } from '#application/recorded-change';

/**
 * Fields with personal data or with text that somebody wrote. The audit log has only their names (CONTRACT §14). The names of the
 * clubs and of the venue are public facts of a match and are recorded.
 */
const UNRECORDED_FIELDS = new Set([
  'name',
  'reason',
  'pause_reason',
  'cancel_reason',
  'email',
  'contact_email',
  'holder_name',
  'note',
  'list_key',
  'q',
  'text',
]);

/** Stands for the value of such a field. */
export const NOT_RECORDED = '[not recorded]';

/** `before` and `after` of a row of the audit log. */
export interface AuditedFields {
  readonly before: RecordedFields | null;
  readonly after: RecordedFields | null;
}

/** Returns the fields that changed, with their names as in the API, and without personal data and free text. */
export function auditedFields({ before, after }: Pick<RecordedChange, 'before' | 'after'>): AuditedFields {
  const [old, now] = [named(before), named(after)];
  const isSame = (name: string): boolean =>
    old !== null && now !== null && JSON.stringify(old[name]) === JSON.stringify(now[name]);
  return { before: withoutSecrets(old, isSame), after: withoutSecrets(now, isSame) };
}

function named(fields: RecordedFields | null): RecordedFields | null {
  if (fields === null) return null;
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [snakeCase(name), value]));
}

function withoutSecrets(fields: RecordedFields | null, isSame: (name: string) => boolean): RecordedFields | null {
  if (fields === null) return null;
  const changed = Object.entries(fields).filter(([name]) => !isSame(name));
  return Object.fromEntries(
    changed.map(([name, value]) => [name, value !== null && UNRECORDED_FIELDS.has(name) ? NOT_RECORDED : value]),
  );
}

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
