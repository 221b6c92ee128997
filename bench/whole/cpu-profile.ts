// Splits a CPU profile of V8 (`node --cpu-prof`) into parts of the work on a mail.

/** The part of a .cpuprofile file that is read. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** When the profile began, in microseconds of the monotonic clock of the machine. */
  readonly startTime: number;
  /** The id of the node that ran at each sample, and the microseconds since the sample before it. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** A name of a part, and the frames that belong to it: a part of the file's path, or the name of a frame without a file. */
export type PartRule = readonly [part: string, ...patterns: string[]];

const REST = 'rest of Node';

/** The parts of the work on a mail in the notification worker. The innermost frame that a rule names decides. */
export const MAIL_PARTS: readonly PartRule[] = [
  ['waiting', '(idle)'],
  ['garbage collection', '(garbage collector)'],
  ['QR codes', '/ticket-qr', '/uqr/'],
  ['PDF', '/ticket-pdf', '/pdf-page', '/helvetica'],
  ['MIME and SMTP', '/nodemailer/', '/mime-message', '/smtp-server', '/mailgun'],
  ['text and HTML', '/domain/src/notification/'],
  ['limiter', '/provider-limiter'],
  ['ledger', '/send-claims', '/delivery-ledger', '/processed-marks', '/postgres-mailbox', '/single-statements', '/batch'],
  ['copies of jobs', '/queued-jobs'],
  ['PostgreSQL client', '/pg/', '/pg-', '/typeorm/', '/platform/src/postgres/'],
  ['BullMQ', '/bullmq/', '/msgpackr/'],
  ['Redis client', '/ioredis/', '/redis-parser/', '/redis-connection', '/platform/src/redis/'],
  ['validation', '/zod/', '/contracts/src/'],
  ['logs and traces', '/logging/', '/tracing/', '/pino/', '/prom-client/'],
  ['rest of the worker', '/notification-worker/', '/messaging/', '/platform/'],
];

/** The microseconds of each part between two moments of the monotonic clock. */
export function splitProfile(profile: CpuProfile, rules: readonly PartRule[], from: number, to: number): Map<string, number> {
  const parts = partsOfNodes(profile, rules);
  const micros = new Map<string, number>();
  let at = profile.startTime;
  profile.samples.forEach((node, index) => {
    at += profile.timeDeltas[index] ?? 0;
    // The sample says what ran until the next one.
    const length = profile.timeDeltas[index + 1] ?? 0;
    if (at < from || at >= to || length <= 0) return;
    const part = parts.get(node) ?? REST;
    micros.set(part, (micros.get(part) ?? 0) + length);
  });
  return micros;
}

/** The part of each node: that of its own frame, else that of its caller. */
function partsOfNodes({ nodes }: CpuProfile, rules: readonly PartRule[]): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map<number, string>();
  const visit = ({ id, callFrame, children = [] }: ProfileNode, inherited: string): void => {
    const name = callFrame.url || callFrame.functionName;
    const part = rules.find(([, ...patterns]) => patterns.some((pattern) => name.includes(pattern)))?.[0] ?? inherited;
    parts.set(id, part);
    for (const child of children) visit(byId.get(child)!, part);
  };
  const called = new Set(nodes.flatMap(({ children = [] }) => children));
  for (const node of nodes) if (!called.has(node.id)) visit(node, REST);
  return parts;
}
