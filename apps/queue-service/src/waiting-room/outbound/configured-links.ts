import { Links } from '../application/ports.ts';

/** Builds URLs for fans from PUBLIC_URL and QUEUE_PUBLIC_URL, never from a request's Host header. */
export class ConfiguredLinks extends Links {
  constructor(
    private readonly publicUrl: string,
    private readonly queuePublicUrl: string,
  ) {
    super();
  }

  override checkout(matchId: string): string {
    return `${this.publicUrl}/matches/${matchId}/checkout`;
  }

  override socket(queueToken: string): string {
    return `${this.queuePublicUrl.replace(/^http/, 'ws')}/ws/${queueToken}`;
  }

  override stream(queueToken: string): string {
    return `${this.queuePublicUrl}/sse/${queueToken}`;
  }
}
