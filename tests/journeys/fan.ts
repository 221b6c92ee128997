import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import type { StartedSystem } from './started-system.ts';

/** An answer of a service to a fan. `T` is the type of its JSON body. */
export interface Answer<T = Record<string, never>> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

/** A new random idempotency key. */
export function newKey(): string {
  return randomUUID().replaceAll('-', '');
}

/** Calls the APIs like the mobile app of one fan. */
export class Fan {
  readonly id = randomUUID();

  constructor(
    private readonly system: StartedSystem,
    private readonly roles = '',
  ) {}

  async call<T>(method: string, url: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> {
    const address = url.startsWith('http') ? url : `${this.system.publicUrl}/api/v1${url}`;
    const response = await fetch(address, {
      method,
      headers: {
        'x-mock-user-id': this.id,
        ...(this.roles ? { 'x-mock-roles': this.roles } : {}),
        ...(method === 'GET' || method === 'DELETE' ? {} : { 'idempotency-key': newKey() }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    return { status: response.status, body: (isJson ? JSON.parse(text) : text) as T, headers: response.headers };
  }

  queue<T>(method: string, matchId: string, path = '', body?: unknown): Promise<Answer<T>> {
    return this.call(method, `${this.system.queueUrl}/api/v1/queue/${matchId}${path}`, body);
  }

  /** Opens a WebSocket and returns its messages up to and including the first message of this type. */
  receiveUntil(socketUrl: string, type: string, withinMs = 8000): Promise<{ type: string; [member: string]: unknown }[]> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(socketUrl);
      const messages: { type: string }[] = [];
      const timeout = setTimeout(() => (socket.terminate(), reject(new Error(`no ${type} in ${withinMs} ms`))), withinMs);
      socket.on('error', reject);
      socket.on('message', (data: Buffer) => {
        messages.push(JSON.parse(data.toString()) as { type: string });
        if (messages.at(-1)?.type !== type) return;
        clearTimeout(timeout);
        socket.close();
        resolve(messages);
      });
    });
  }
}

/** Repeats a request until its answer matches or the time is over. Returns the last answer. */
export async function pollUntil<T>(request: () => Promise<T>, matches: (answer: T) => boolean, withinMs = 10_000): Promise<T> {
  const endAt = Date.now() + withinMs;
  for (;;) {
    const answer = await request();
    if (matches(answer) || Date.now() > endAt) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
