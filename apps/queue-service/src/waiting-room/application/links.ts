/** Builds the absolute URLs that fans get, from PUBLIC_URL and QUEUE_PUBLIC_URL and never from a request's Host header. */
export class Links {
  constructor(
    private readonly publicUrl: string,
    private readonly queuePublicUrl: string,
  ) {}

  checkout(matchId: string): string {
    return `${this.publicUrl}/matches/${matchId}/checkout`;
  }

  socket(queueToken: string): string {
    return `${this.queuePublicUrl.replace(/^http/, 'ws')}/ws/${queueToken}`;
  }

  stream(queueToken: string): string {
    return `${this.queuePublicUrl}/sse/${queueToken}`;
  }
}
