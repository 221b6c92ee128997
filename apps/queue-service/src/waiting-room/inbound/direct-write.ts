import type { Socket } from 'node:net';

/** The internal method of a stream that passes bytes to the kernel. `write` calls it after updating the stream's buffer state. */
interface StreamInternals {
  _write(text: string, encoding: 'latin1', done: (error?: Error | null) => void): void;
}

/** How much of a text the kernel took before `writeDirectly` returned. */
export type WriteOutcome = 'whole' | 'in_part' | 'failed';

let outcome: WriteOutcome = 'in_part';

/** One callback for all writes, to save a closure per message. Almost every write completes before `_write` returns. */
function onWritten(error?: Error | null): void {
  outcome = error ? 'failed' : 'whole';
}

/**
 * Writes directly to the kernel, without the buffer state that a stream updates for each write. A direct write saves 0.8 of the 10 µs
 * that a message costs; an update of all fans is ten thousand messages. Use it only for a connection without unsent data: the text
 * would overtake unsent data. If the kernel takes only a part of the text (`in_part`), Node sends the remaining bytes in order,
 * but the stream does not know about them: use the stream for all further writes of this connection.
 */
export function writeDirectly(connection: Socket, text: string): WriteOutcome {
  outcome = 'in_part';
  (connection as unknown as StreamInternals)._write(text, 'latin1', onWritten);
  return outcome;
}
