import { write } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Writes lines to a file descriptor without waiting for its reader. Node's own stdout blocks the whole process when a pipe is
 * full (64 KB). A program that runs `npm start`, reads up to the ready line and then stops reading would block `npm start` and
 * its signal handlers. With this class such a reader loses lines instead, and later gets a line that says how many were lost.
 */
export class LineWriter {
  readonly #fd: number;
  readonly #limit: number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #lost = 0;
  #busy = false;

  constructor(fd: number, limitBytes = 1_000_000) {
    this.#fd = fd;
    this.#limit = limitBytes;
  }

  write(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    if (this.#waitingBytes + bytes.length > this.#limit) {
      this.#lost += 1;
      return;
    }
    this.#push(bytes);
    if (!this.#busy) void this.#drain();
  }

  /** Waits until all lines are written. False if the reader did not read them within `withinMs`. */
  async flush(withinMs: number): Promise<boolean> {
    const deadline = Date.now() + withinMs;
    while (this.#busy && Date.now() < deadline) await sleep(5);
    return !this.#busy;
  }

  #push(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const bytes = Buffer.concat(this.#waiting);
      this.#waiting = [];
      this.#waitingBytes = 0;
      await this.#writeAll(bytes);
      if (this.#lost > 0) this.#push(Buffer.from(`(${this.#lost} lines lost: the reader was too slow)\n`));
      this.#lost = 0;
    }
    this.#busy = false;
  }

  async #writeAll(bytes: Buffer): Promise<void> {
    for (let sent = 0; sent < bytes.length;) {
      const result = await new Promise<number | NodeJS.ErrnoException>((resolve) => {
        write(this.#fd, bytes, sent, bytes.length - sent, null, (error, count) => resolve(error ?? count));
      });
      if (typeof result === 'number') sent += result;
      else if (result.code === 'EAGAIN') await sleep(20);
      else return; // The reader has closed the pipe (EPIPE), so the rest is discarded.
    }
  }
}
