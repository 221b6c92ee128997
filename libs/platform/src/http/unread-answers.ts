import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { AnswersUnderWay } from './answers-in-turn.ts';
import { KernelSendQueues } from './kernel-send-queues.ts';

/** A client that has read nothing for so long, while an answer waits for it, is disconnected (CONTRACT §9). */
const MAX_UNREAD_MS = 30_000;
const CHECK_INTERVAL_MS = 5000;

/** What shows whether a client reads: if it does, one of the first two changes. */
interface Progress {
  /** How many bytes of the connection the kernel has taken from us. */
  readonly taken: number;
  /** How many of them the client has not acknowledged. Undefined where the system does not tell. */
  readonly unacknowledged: number | undefined;
  readonly changedAtMs: number;
}

/**
 * Disconnects clients that read nothing. The kernel keeps up to some megabytes of an answer, and takes more from us only when a third of
 * that is free again: a slow client may seem not to read for a minute. So its queue in the kernel is compared, too.
 */
export class UnreadAnswers {
  private readonly stalled = new Map<ServerResponse, Progress>();

  constructor(
    private readonly answers: AnswersUnderWay,
    private readonly readQueues: () => Promise<Pick<KernelSendQueues, 'of'>> = () => KernelSendQueues.read(),
  ) {}

  async check(nowMs: number): Promise<void> {
    for (const answer of this.stalled.keys()) if (!isUnread(answer)) this.stalled.delete(answer);
    const unread = [...this.answers].filter(isUnread);
    if (unread.length === 0) return;
    const queues = await this.readQueues();
    for (const answer of unread) {
      const { socket } = answer;
      if (!socket) continue;
      const [taken, unacknowledged] = [socket.bytesWritten - socket.writableLength, queues.of(socket)];
      const known = this.stalled.get(answer);
      if (known?.taken !== taken || known.unacknowledged !== unacknowledged)
        this.stalled.set(answer, { taken, unacknowledged, changedAtMs: nowMs });
      else if (nowMs - known.changedAtMs >= MAX_UNREAD_MS) socket.destroy();
    }
  }
}

function isUnread({ socket }: ServerResponse): boolean {
  return socket !== null && socket !== undefined && !socket.destroyed && socket.writableLength > 0;
}

/** Checks all answers under way until the server closes. */
export function disconnectClientsThatDoNotRead(fastify: FastifyInstance, answers: AnswersUnderWay): void {
  const unread = new UnreadAnswers(answers);
  const timer = setInterval(() => void unread.check(performance.now()), CHECK_INTERVAL_MS).unref();
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(timer);
    done();
  });
}
