/** A text that fits more orders than this does not name an order. Without a limit, `ORD` would read all orders. */
export const MOST_ORDERS = 1000;
/** So many of the newest orders are searched for any part of a text, which has no index. It takes some 25 ms. */
export const NEWEST_ORDERS = 10_000;
/** With fewer characters, a prefix or an ending fits a large part of all orders. */
const FEWEST_CHARACTERS = 3;
/** An id begins with its time in milliseconds, which has this many digits. A shorter beginning fits all tickets of some time. */
const TIME_DIGITS = 12;

const escaped = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);
const reversed = (text: string): string => [...text].reverse().join('');
const plain = (text: string): string => text.normalize('NFC').toLowerCase();

/** The pattern of LIKE that any part fits, in lower case. */
export const partPattern = (text: string): string => `%${escaped(plain(text))}%`;

/** The pattern for an id without its hyphens; null if the text is no part of one. */
export function idPattern(text: string): string | null {
  const digits = plain(text).replaceAll('-', '');
  return /^[\da-f]+$/.test(digits) ? `%${digits}%` : null;
}

/** The pattern for the holders of an order as the text of their JSON; null if JSON writes the text in another way. */
export const holdersPattern = (text: string): string | null => (/["\\\p{Cc}]/u.test(text) ? null : partPattern(text));

/**
 * SQL: whether a part (the parameter `pattern`) of its number, e-mail address or holders' names at checkout finds an order. `lower()` of the
 * database's locale may leave Đ as it is, so names use a collation. To look at each holder of 10,000 orders takes 25 ms, so the text of
 * their JSON (the parameter `json`) is looked at first.
 */
const hasPart = (pattern: string, json: string): string => `(lower(number) like ${pattern} or lower(email) like ${pattern}
    or (${json}::text is null or lower(holders::text collate pg_c_utf8) like ${json})
      and exists (select from jsonb_array_elements(holders) h where lower((h ->> 'name') collate pg_c_utf8) like ${pattern}))`;

/** SQL: the orders `o` of the match $1 that have a part ($6, $9), the payment intent id $7, or one of the ids $8. */
export const TEXT_IN_MATCH = `and o.id = any(array(
  select id from orders where match_id = $1 and ${hasPart('$6', '$9')}
  union all select order_id from order_intents where intent_id = $7
  union all select unnest($8::uuid[])))`;

/** The newest orders that have a part ($1, $2). */
export const NEWEST_WITH_PART = `
  select id from (select id, number, email, holders from orders order by id desc limit ${NEWEST_ORDERS}) newest
  where ${hasPart('$1', '$2')}`;

/** SQL: the orders `o` of all matches, by what an index finds, and those with the ids $7. */
export const TEXT_ANYWHERE = `and o.id = any(array(
  select id from orders where number = upper($6)
  union all select order_id from order_intents where intent_id = $6
  union all select unnest($7::uuid[])
  union all (select id from orders where lower(email) like $8 order by lower(email) using ~<~, id desc limit ${MOST_ORDERS})
  union all (select id from orders where reverse(number) like $9 order by id desc limit ${MOST_ORDERS})
  union all (select id from orders where number between $10 and $10 || '99999999999999999999'
             and starts_with(number, $10) order by number desc limit ${MOST_ORDERS})))`;

/**
 * The values $8 to $10 of TEXT_ANYWHERE: patterns for the beginning of an e-mail address and the end of an order number, and the beginning
 * of a number. Null for what the text cannot be.
 */
export function patternsOf(text: string): readonly (string | null)[] {
  const part = plain(text);
  const [, digits] = /^(?:ord-?)?(\d[\d-]*)$/.exec(part) ?? [];
  const email = part.length >= FEWEST_CHARACTERS ? `${escaped(part)}%` : null;
  if (digits === undefined || digits.length < FEWEST_CHARACTERS) return [email, null, null];
  return [email, `${reversed(digits)}%`, `ORD-${digits}`];
}

/** The ticket ids that begin with this text. Undefined if it is no id, or too short a beginning of one. */
export function ticketIdsFrom(text: string): { from: string; to: string } | undefined {
  const digits = plain(text).replaceAll('-', '');
  if (digits.length < TIME_DIGITS || digits.length > 32 || !/^[\da-f]+$/.test(digits)) return undefined;
  return { from: digits.padEnd(32, '0'), to: digits.padEnd(32, 'f') };
}
