import { z } from 'zod';

/**
 * The settings of all services (CONTRACT §1) in groups. The config.ts of each app combines the groups that the app needs. The
 * descriptions are copied to docs/reference/env.md and .env.example. `secret` marks settings whose values must not be shown.
 */

export const wholeNumber = (min: number, max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.int().min(min).max(max));

const port = wholeNumber(1, 65_535);
const flag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .pipe(z.boolean());
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).transform((url) => url.replace(/\/+$/, ''));
const postgresUrl = z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL');
const list = z.string().transform((text) => text.split(',').flatMap((part) => part.trim() || []));

/**
 * Matches an IP address or a CIDR range in TRUSTED_PROXIES: 10.0.0.0/8, 127.0.0.1, fd00::/8. Other software also accepts a number
 * of proxies like `1`. It is refused here: it would be read as an address, so no proxy would be trusted and all clients would have
 * the address of the proxy.
 */
const cidr =
  /^([0-9]{1,3}(\.[0-9]{1,3}){3}(\/([0-9]|[12][0-9]|3[0-2]))?|[0-9a-f:]*:[0-9a-f:.]*(\/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))?)$/i;

/** Matches one mail address, with or without a name: `tickets@example.org`, `Club <tickets@example.org>`. */
const mailSender = /^([^<>\r\n]*<[^\s<>@,;]+@[^\s<>@,;]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/;

/** Default secrets for development. They are public, so production refuses them. */
export const developmentSecrets = {
  INTERNAL_AUTH_SECRET: 'development-internal-auth-secret-000',
  QUEUE_RECEIPT_SECRET: 'development-queue-receipt-secret-000',
  TICKET_SIGNING_KEY: 'ZGV2ZWxvcG1lbnQtdGlja2V0LXNpZ25pbmcta2V5MDA=',
  STRIPE_WEBHOOK_SECRET: 'whsec_development_sandbox_secret_000',
} as const;

const secretText = z.string().min(32, 'a secret has at least 32 characters');

/** A secret that may be replaced without a failed request: while both values are listed, all processes accept both. */
const secretList = (name: keyof typeof developmentSecrets, description: string) =>
  list
    .pipe(z.tuple([secretText], secretText, 'must name a secret'))
    .default([developmentSecrets[name]])
    .meta({ description: `${description}. May be a comma-separated list: the first is used, all are accepted`, secret: true });

/** Settings of every process: environment, log level, address to listen on. */
export const processSettings = z.object({
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('development')
    .describe(
      '`production` refuses mock auth, the sandbox, the mailbox, development secrets and secrets that can be guessed, keys that are not fetched by https, and limits of 0; the image sets it',
    ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Lowest level of log lines that are written. The lines about requests have the level `info`'),
  LOG_READS_EVERY: wholeNumber(0, 1_000_000)
    .default(100)
    .describe('One of this many successful reads is logged; 1 = all, 0 = none. Writes, refusals and errors are always logged'),
  BIND_HOST: z.string().default('127.0.0.1').describe('Address the service listens on; 0.0.0.0 in the image'),
});

/** Settings of the connection to PostgreSQL. */
export const databaseSettings = z.object({
  DATABASE_URL: postgresUrl.meta({ description: 'PostgreSQL, with user and password', secret: true }),
  DATABASE_REPLICA_URL: postgresUrl.optional().meta({
    description:
      'Streaming replica of PostgreSQL for reads that may be a moment old (docs/concepts/database-replica.md); the primary answers when it is down or late',
    secret: true,
  }),
});

/** Settings of the migration. The services do not get them. */
export const migrationSettings = z.object({
  DATABASE_MIGRATION_URL: postgresUrl.optional().meta({
    description:
      'PostgreSQL as the owner of the schema, for `migrate` alone, which grants rights to the user of DATABASE_URL. Unset: DATABASE_URL with a warning; in production it must be set',
    secret: true,
  }),
});

/** Settings of the connection to Redis. */
export const redisSettings = z.object({
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\/[^,\s]+(,rediss?:\/\/[^,\s]+)*$/, 'must be one redis:// URL or a comma-separated list of them')
    .meta({ description: 'Redis: one URL, or the nodes of a cluster separated by commas', secret: true }),
});

/** Ports and addresses of the services, origins of web pages that may call the APIs, and addresses of trusted proxies. */
export const addressSettings = z.object({
  MONOLITH_PORT: port.default(3000).describe('Port of the monolith'),
  QUEUE_PORT: port.default(3001).describe('Port of the queue service'),
  WORKER_PORT: port.default(3002).describe('Port of the notification worker (health, metrics, mailbox)'),
  PUBLIC_URL: httpUrl.optional().describe('Public address of the web app and the API; default: http://127.0.0.1:{MONOLITH_PORT}'),
  QUEUE_PUBLIC_URL: httpUrl.optional().describe('Public address of the queue service; default: http://127.0.0.1:{QUEUE_PORT}'),
  QUEUE_INTERNAL_URL: httpUrl
    .optional()
    .describe('Address at which the monolith calls the queue service; default: http://127.0.0.1:{QUEUE_PORT}'),
  MONOLITH_INTERNAL_URL: httpUrl
    .optional()
    .describe(
      'Address at which the sandbox sends its webhooks, and the CLI calls the monolith; default: the address of the process itself',
    ),
  CORS_ORIGINS: list
    .pipe(z.array(httpUrl))
    .default([])
    .describe('Origins whose pages may call the APIs and open sockets, besides that of PUBLIC_URL'),
  TRUSTED_PROXIES: list
    .pipe(z.array(z.string().regex(cidr, 'must be a list of addresses or CIDR ranges')))
    .default([])
    .describe('Addresses or CIDR ranges of proxies whose X-Forwarded-For header is trusted'),
});

/** Settings that say how the services find out who sends a request. */
export const authenticationSettings = z.object({
  AUTH_MODE: z
    .enum(['mock', 'jwt'])
    .default('mock')
    .describe('`jwt`: bearer tokens; `mock`: the headers X-Mock-User-Id and X-Mock-Roles name the caller, without a check'),
  ALLOW_MOCK_ON_NETWORK: flag
    .default(false)
    .describe(
      '`true`: mock is allowed although BIND_HOST is not a loopback address, so everybody who reaches the port can be any fan or operator',
    ),
  JWT_JWKS_URL: httpUrl.optional().describe('URL of the public keys of the identity provider (JWKS); with jwt'),
  JWT_ISSUER: z.string().optional().describe('Expected `iss`; with jwt'),
  JWT_AUDIENCE: z.string().optional().describe('Expected `aud`; with jwt'),
  JWT_ROLES_CLAIM: z.string().default('roles').describe('Claim with the list of roles (`ops`, `gate`)'),
  INTERNAL_AUTH_SECRET: secretList('INTERNAL_AUTH_SECRET', 'Value of the header X-Internal-Auth between our own services'),
});

/** Settings of the rate limits and of the deadline of a request. */
export const requestLimitSettings = z.object({
  RATE_LIMIT_USER_PER_MINUTE: wholeNumber(0, 1_000_000)
    .default(10)
    .describe('Maximum holds, checkouts and transfers that one fan may request per minute; 0 = no limit'),
  RATE_LIMIT_WRITES_PER_MINUTE: wholeNumber(0, 1_000_000)
    .default(30)
    .describe(
      'Maximum other writes of one fan per minute: profile, devices, claims of invitations, answers to transfers; 0 = no limit',
    ),
  RATE_LIMIT_IP_PER_MINUTE: wholeNumber(0, 10_000_000)
    .default(1000)
    .describe('Maximum requests from one address to one service per minute; 0 = no limit'),
  REQUEST_DEADLINE_MS: wholeNumber(1000, 600_000)
    .default(55_000)
    .describe(
      'Deadline of a write. After it the answer is LOCK_TIMEOUT, or OUTCOME_UNKNOWN if the write may have been committed',
    ),
});

/** Settings of the waiting room: turns, presence and receipts. */
export const queueSettings = z.object({
  QUEUE_RECEIPT_SECRET: secretList('QUEUE_RECEIPT_SECRET', 'Signs the receipts that restore a queue entry'),
  QUEUE_PURCHASE_WINDOW_SECONDS: wholeNumber(5, 86_400).default(1200).describe('How long a turn lasts'),
  QUEUE_PERSISTENCE_SECONDS: wholeNumber(5, 86_400)
    .default(1800)
    .describe('How long the queue entry of an absent fan, or of a fan whose turn is over, is kept'),
  QUEUE_PRESENCE_SECONDS: wholeNumber(1, 86_400)
    .default(120)
    .describe('How long a fan counts as present after a join or a read of the position'),
  QUEUE_UPDATE_SECONDS: wholeNumber(1, 3600).default(30).describe('Interval at which waiting fans receive their position'),
});

/** Settings of holds, tickets and idle turns. */
export const purchaseSettings = z.object({
  TICKET_SIGNING_KEY: z
    .string()
    .refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64')
    .default(developmentSecrets.TICKET_SIGNING_KEY)
    .meta({ description: 'Signs the codes of tickets: 32 bytes in base64', secret: true }),
  RESERVATION_HOLD_SECONDS: wholeNumber(5, 86_400)
    .default(600)
    .describe('How long a hold lasts; it ends with the turn at the latest'),
  HOLD_COOLDOWN_AFTER: wholeNumber(0, 1000)
    .default(3)
    .describe(
      'After so many unpaid holds of a match within an hour (or 10, if they were short) a fan gets no hold of it for a while; 0 = never, also not after 10',
    ),
  HOLD_COOLDOWN_SECONDS: wholeNumber(1, 86_400)
    .default(600)
    .describe('How long this cooldown is, from the end of the last of these holds'),
  RESERVATION_EXPIRY_SECONDS: wholeNumber(1, 3600)
    .default(30)
    .describe('Interval at which expired holds are cleaned up; their seats are free as soon as they expire'),
  WARM_UP: flag.default(true).describe('`false`: the monolith is ready at once and rehearses no purchases (ADR 0019)'),
  QUEUE_IDLE_TURN_SECONDS: wholeNumber(1, 86_400)
    .default(180)
    .describe(
      'A turn that held no seats for this long in total is idle: it goes on, but the next fan may get a turn for the same seats',
    ),
});

/** Settings of the payment provider. */
export const paymentSettings = z.object({
  PAYMENT_PROVIDER: z.enum(['sandbox', 'stripe']).default('sandbox').describe('`sandbox` simulates a provider, for development'),
  STRIPE_API_BASE: httpUrl.default('https://api.stripe.com').describe("Address of Stripe's API"),
  STRIPE_SECRET_KEY: z.string().optional().meta({ description: "Stripe's API key; with stripe", secret: true }),
  STRIPE_WEBHOOK_SECRET: secretText
    .default(developmentSecrets.STRIPE_WEBHOOK_SECRET)
    .meta({ description: 'Secret that signs payment webhooks, also those of the sandbox', secret: true }),
});

/** Settings of mails, pushes and alerts: queues, providers, limits, addresses. */
export const notificationSettings = z.object({
  WORKER_QUEUES: z
    .enum(['all', 'email', 'push'])
    .default('all')
    .describe('What this worker sends: mails (queue `email`), pushes (queues `push` and `push-priority`) or both'),
  EMAIL_PROVIDER: z
    .enum(['mailbox', 'mailgun', 'smtp'])
    .default('mailbox')
    .describe('`mailbox` stores the mails instead of sending them'),
  MAIL_FROM: z
    .string()
    .regex(mailSender, 'must be one address, as in "Club <tickets@example.org>"')
    .default('Tribina <tickets@tribina.local>')
    .describe('Sender of all mails; its domain is in the Message-ID of each mail'),
  MAILGUN_API_BASE: httpUrl.default('https://api.mailgun.net').describe("Address of Mailgun's API"),
  MAILGUN_DOMAIN: z.string().optional().describe('Sending domain; with mailgun'),
  MAILGUN_API_KEY: z.string().optional().meta({ description: "Mailgun's API key; with mailgun", secret: true }),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' })
    .optional()
    .meta({
      description: 'Mail server with user and password: smtp:// or, with TLS from the start, smtps://; with smtp',
      secret: true,
    }),
  PUSH_PROVIDER: z
    .enum(['mailbox', 'fcm', 'none'])
    .default('mailbox')
    .describe(
      '`mailbox` stores the pushes instead of sending them; `none`: no pushes are made (set it for the monolith and the workers)',
    ),
  FCM_API_BASE: httpUrl.default('https://fcm.googleapis.com').describe('Address of Firebase Cloud Messaging'),
  FCM_SERVICE_ACCOUNT: z.string().optional().describe("Path of the service account's JSON file; with fcm"),
  ALERT_WEBHOOK_URL: httpUrl
    .optional()
    .describe(
      'Webhook that receives the alerts for operators (an open breaker, dead letters, a failed job); a Slack webhook works',
    ),
  ALERT_EMAIL: list.pipe(z.array(z.email())).default([]).describe('Addresses that receive the same alerts by mail'),
  NOTIFICATION_RETRY_SECONDS: list
    .pipe(z.array(wholeNumber(0, 86_400)).length(2, 'must be two numbers, as in "30,300"'))
    .default([30, 300])
    .describe('Waits in seconds before the second and the third attempt of a mail or push'),
  EMAIL_RATE_PER_SECOND: wholeNumber(1, 100_000).default(100).describe('Maximum mails in any second, over all workers'),
  PUSH_CALLS_PER_SECOND: wholeNumber(1, 100_000)
    .default(1000)
    .describe('Maximum requests to the push provider in any second, over all workers; a tenth is reserved for turns'),
});

/** Settings of background jobs and of the event loader, which fetches events from other systems (docs/concepts/event-loader.md). */
export const jobSettings = z.object({
  JOBS_TRANSPORT: z
    .enum(['redis', 'postgres'])
    .default('redis')
    .describe('Where general background jobs are queued; mails and pushes are always queued in Redis'),
  JOBS_IN_MONOLITH: flag
    .default(true)
    .describe('`false`: the monolith does not run general background jobs; `jobs:consume` runs them'),
  WEBHOOK_ALLOW_PRIVATE: flag
    .default(false)
    .describe('`true`: webhooks may have http URLs and addresses that are not on the public internet; refused in production'),
  LOADER_SOURCES: z.string().optional().describe('Path of the JSON file that lists the event sources'),
  TICKET_PUBLIC_KEYS: list
    .pipe(z.array(z.string().refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64')))
    .optional()
    .describe(
      'Public keys of ticket codes, each 32 bytes in base64; needed if a source feeds `gate-scans`. `cli tickets:public-key` prints the key of TICKET_SIGNING_KEY',
    ),
});

/** The host in a URL at which this machine reaches a service that listens on `bindHost`. */
function reachableHost(bindHost: string): string {
  if (bindHost === '0.0.0.0' || bindHost === '::') return '127.0.0.1';
  return bindHost.includes(':') ? `[${bindHost}]` : bindHost;
}

/** Returns the addresses of the services. An address that is not set is derived from the port. */
export function publicUrls(config: z.output<typeof addressSettings> & { readonly BIND_HOST: string }) {
  const localUrl = (ofPort: number): string => `http://127.0.0.1:${ofPort}`;
  return {
    monolithInternalUrl: config.MONOLITH_INTERNAL_URL ?? `http://${reachableHost(config.BIND_HOST)}:${config.MONOLITH_PORT}`,
    publicUrl: config.PUBLIC_URL ?? localUrl(config.MONOLITH_PORT),
    queuePublicUrl: config.QUEUE_PUBLIC_URL ?? localUrl(config.QUEUE_PORT),
    queueInternalUrl: config.QUEUE_INTERNAL_URL ?? localUrl(config.QUEUE_PORT),
  };
}
