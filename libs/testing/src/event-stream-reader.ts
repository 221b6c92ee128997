import { setTimeout as pause } from 'node:timers/promises';

/**
 * Reads a stream of server-sent events in a test. Keeps the raw text, so that the test can check the framing as well as the
 * messages.
 */
export class EventStreamReader<M extends { type: string }> {
  text = '';
  readonly ended: Promise<void>;

  private constructor(
    readonly response: Response,
    private readonly abort: AbortController,
  ) {
    this.ended = this.read();
  }

  static async open<M extends { type: string }>(
    url: string,
    headers: Record<string, string> = {},
  ): Promise<EventStreamReader<M>> {
    const abort = new AbortController();
    return new EventStreamReader<M>(await fetch(url, { signal: abort.signal, headers }), abort);
  }

  get messages(): M[] {
    return [...this.text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as M);
  }

  /** Returns the first message for which `fits` is true. Waits for it at most `withinMs`, then throws. */
  async until(fits: (message: M) => boolean, withinMs = 3000): Promise<M> {
    for (const giveUpAt = Date.now() + withinMs; Date.now() < giveUpAt; await pause(10)) {
      const found = this.messages.find(fits);
      if (found) return found;
    }
    throw new Error(`no matching message within ${withinMs} ms; received: ${this.text}`);
  }

  close(): void {
    this.abort.abort();
  }

  private async read(): Promise<void> {
    try {
      for await (const chunk of this.response.body ?? []) this.text += Buffer.from(chunk).toString();
    } catch {
      // The test closed the stream, or the connection was cut.
    }
  }
}
