/**
 * Names of the fields that are not masked: ids, kinds and times. They may identify a fan or an order, but contain no contact data.
 */
const SHOWN_FIELDS =
  /(^|_)(id|ids|class|type|template|locale|priority|attempts|max_attempts|destination|at|until|event|queue|match_name|order_number|venue)$/i;
const SHOWN_CAMEL_CASE_FIELDS = /(Id|Ids|At)$/;
const EMAIL_ADDRESS = /([^\s@<"']{1,2})[^\s@<"']*@([^\s@>"']+)/g;

/** Masks the payload of a job for display: hides addresses, names, tokens and ticket codes; shows ids, kinds and times. */
export function masked(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, name));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item, key)]));
  if (typeof value !== 'string' || SHOWN_FIELDS.test(name) || SHOWN_CAMEL_CASE_FIELDS.test(name)) return value;
  return value.includes('@') ? maskedText(value) : '•••';
}

/** Masks email addresses in free text, for example in an error message. */
export function maskedText(text: string): string {
  return text.replaceAll(EMAIL_ADDRESS, '$1•••@$2');
}
