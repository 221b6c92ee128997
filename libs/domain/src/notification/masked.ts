/** What tells who it is about but not how to reach them: ids, kinds and times. */
const SHOWN =
  /(^|_)(id|ids|class|type|template|locale|priority|attempts|max_attempts|destination|at|until|event|queue|match_name|order_number|venue)$/i;
const SHOWN_CAMEL = /(Id|Ids|At)$/;
const MAIL = /([^\s@<"']{1,2})[^\s@<"']*@([^\s@>"']+)/g;

/** A payload as it may be shown: addresses, names, tokens and codes are covered, what leads to the order or the fan is not. */
export function masked(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, name));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item, key)]));
  if (typeof value !== 'string' || SHOWN.test(name) || SHOWN_CAMEL.test(name)) return value;
  return value.includes('@') ? maskedText(value) : '•••';
}

/** Free text, such as an error, may quote an address. */
export function maskedText(text: string): string {
  return text.replaceAll(MAIL, '$1•••@$2');
}
