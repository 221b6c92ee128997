import type { Socket } from 'node:net';

/** The step of a stream that hands its bytes on: what `write` calls after its own accounts. */
interface Inner {
  _write(text: string, encoding: 'latin1', done: (error?: Error | null) => void): void;
}

export type Written = 'whole' | 'in_part' | 'failed';

let written: Written = 'in_part';

/** Common to all: as good as every call is over before it returns, so nobody else asks in between. */
function note(error?: Error | null): void {
  written = error ? 'failed' : 'whole';
}

/**
 * Writes straight to the kernel, past the accounts that a stream keeps of each write (0.8 µs of the 10 that a message costs; a
 * push is ten thousand of them). Only for a connection with nothing unsent, whose bytes it could overtake otherwise. What the
 * kernel does not take at once (`in_part`) follows in order, but the stream does not know of it: write through the stream from
 * then on.
 */
export function writePast(connection: Socket, text: string): Written {
  written = 'in_part';
  (connection as unknown as Inner)._write(text, 'latin1', note);
  return written;
}
