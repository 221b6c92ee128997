/** A condition on the orders `o` with its values. */
interface TextCondition {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A text that fits more orders than this does not name an order. Without a limit, `ORD` would read all orders. */
const MOST_ORDERS = 1000;
/** With fewer characters, a prefix or an ending fits a large part of all orders. */
const FEWEST_CHARACTERS = 3;
/** An id begins with its time in milliseconds, which has this many digits. A shorter beginning fits all tickets of some time. */
const TIME_DIGITS = 12;

const escaped = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);
const reversed = (text: string): string => [...text].reverse().join('');
const plain = (text: string): string => text.normalize('NFC').toLowerCase();

/** `lower()` of the database's locale may leave Đ as it is, so names use a collation that every PostgreSQL 18 has. */
const lowerName = (column: string): string => `lower(${column} collate pg_c_utf8)`;

/**
 * SQL: the orders of a match that a part of their number, e-mail address, holders' names or ticket ids finds. It reads all orders of the
 * match and their tickets. The names in the order are those at checkout, those of the tickets include receivers of transfers.
 */
const IN_MATCH = (first: number): string => `o.id = any(array(
  select id from orders where match_id = $1 and (lower(number) like $${first} or lower(email) like $${first}
    or exists (select from jsonb_array_elements(holders) h where ${lowerName("(h ->> 'name')")} like $${first}))
  union all select order_id from order_intents where intent_id = $${first + 1}
  union all select order_id from tickets where order_id = any(array(select id from orders where match_id = $1))
    and (${lowerName('holder_name')} like $${first} or id::text like $${first} or replace(id::text, '-', '') like $${first})))`;

/** SQL: the orders of all matches, by what an index finds. */
const ANYWHERE = (first: number): string => `o.id = any(array(
  select id from orders where number = upper($${first})
  union all select order_id from order_intents where intent_id = $${first + 1}
  union all (select id from orders where lower(email) like $${first + 2} order by lower(email) using ~<~, id desc limit ${MOST_ORDERS})
  union all (select id from orders where reverse(number) like $${first + 3} order by id desc limit ${MOST_ORDERS})
  union all (select id from orders where number between $${first + 4} and $${first + 4} || '99999999999999999999'
             and starts_with(number, $${first + 4}) order by number desc limit ${MOST_ORDERS})
  union all (select order_id from tickets where id between $${first + 5}::uuid and $${first + 6}::uuid limit ${MOST_ORDERS})))`;

/**
 * The search of operators by a text. In a match, any part finds. Without a match, these find: the end or the beginning of an order
 * number, the beginning of an e-mail address (each at least three characters), the beginning of a ticket id (at least 12 digits), and a
 * whole payment intent id. `first` is the number of the first value in the statement.
 */
export function orderText(text: string, isOfMatch: boolean, first: number): TextCondition {
  const part = plain(text);
  if (isOfMatch) return { text: IN_MATCH(first), values: [`%${escaped(part)}%`, text] };
  const [, digits] = /^(?:ord-?)?(\d[\d-]*)$/.exec(part) ?? [];
  const isNumber = digits !== undefined && digits.length >= FEWEST_CHARACTERS;
  const hex = part.replaceAll('-', '');
  const isTicketId = hex.length >= TIME_DIGITS && hex.length <= 32 && /^[\da-f]+$/.test(hex);
  const email = part.length >= FEWEST_CHARACTERS ? `${escaped(part)}%` : null;
  const ending = isNumber ? `${reversed(digits)}%` : null;
  const beginning = isNumber ? `ORD-${digits}` : null;
  const ticketIds = isTicketId ? [hex.padEnd(32, '0'), hex.padEnd(32, 'f')] : [null, null];
  return { text: ANYWHERE(first), values: [text, text, email, ending, beginning, ...ticketIds] };
}
