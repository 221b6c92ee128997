const FIN_TEXT = '\x81';
const LONGEST = 0xffff;
// oxlint-disable-next-line no-control-regex -- ASCII is what this is about
const ASCII = /^[\x00-\x7f]*$/;

let last: { text: string; frame: string } | undefined;

/**
 * A whole WebSocket text frame of the server (unmasked, unfragmented) in latin1, to be written to the connection as it is: one
 * string and one write, where `ws.send` makes a header, corks and writes twice (14.3 µs a message against 10.2,
 * research/limits.md §4). The several devices of a fan, and whoever is told the same, share one. Undefined when it is too long.
 */
export function textFrame(text: string): string | undefined {
  if (last?.text === text) return last.frame;
  const body = ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
  const { length } = body;
  if (length > LONGEST) return undefined;
  const size = length < 126 ? String.fromCharCode(length) : String.fromCharCode(126, length >> 8, length & 0xff);
  last = { text, frame: FIN_TEXT + size + body };
  return last.frame;
}
