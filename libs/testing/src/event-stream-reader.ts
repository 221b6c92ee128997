import { setTimeout as pause } from 'node:timers/promises';

/** A stream of server-sent events as it arrives, byte for byte, so that its framing is seen too. */
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

  /** The first message that fits, now or within this time. */
  async until(fits: (message: M) => boolean, withinMs = 3000): Promise<M> {
    for (const giveUpAt = Date.now() + withinMs; Date.now() < giveUpAt; await pause(10)) {
      const found = this.messages.find(fits);
      if (found) return found;
    }
    throw new Error(`nothing like that was heard, but: ${this.text}`);
  }

  close(): void {
    this.abort.abort();
  }

  private async read(): Promise<void> {
    try {
      for await (const chunk of this.response.body ?? []) this.text += Buffer.from(chunk).toString();
    } catch {
      // Closed by the test, or cut off.
    }
  }
}
