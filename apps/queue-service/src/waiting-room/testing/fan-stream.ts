import { pause } from './line-fixture.ts';

/** A fan's event stream in a test. It records the raw text, so that a test can check the framing as well as the messages. */
export class FanStream {
  text = '';
  readonly ended: Promise<void>;

  private constructor(
    readonly response: Response,
    private readonly abort: AbortController,
  ) {
    this.ended = this.read();
  }

  static async open(url: string, token: string, headers: Record<string, string> = {}): Promise<FanStream> {
    const abort = new AbortController();
    return new FanStream(await fetch(`${url}/sse/${token}`, { signal: abort.signal, headers }), abort);
  }

  get messages(): { type: string }[] {
    return [...this.text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!) as { type: string });
  }

  async next(type: string, withinMs = 2000): Promise<{ type: string }> {
    for (const deadlineMs = Date.now() + withinMs; Date.now() < deadlineMs; await pause(10)) {
      const found = this.messages.find((message) => message.type === type);
      if (found) return found;
    }
    throw new Error(`no ${type} within ${withinMs} ms; received ${this.text}`);
  }

  close(): void {
    this.abort.abort();
  }

  private async read(): Promise<void> {
    try {
      for await (const chunk of this.response.body!) this.text += Buffer.from(chunk).toString();
    } catch {
      // The test has closed the stream.
    }
  }
}
