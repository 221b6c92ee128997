import { z } from 'zod';

/** The settings of CONTRACT §1 in slices; an app's config.ts puts together the ones it needs. */

const wholeNumber = (min: number, max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.int().min(min).max(max));

const port = wholeNumber(1, 65_535);
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).transform((url) => url.replace(/\/+$/, ''));
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** 10.0.0.0/8, 127.0.0.1, fd00::/8. A hop count is refused: behind one, every client has the same address. */
const cidr =
  /^([0-9]{1,3}(\.[0-9]{1,3}){3}(\/([0-9]|[12][0-9]|3[0-2]))?|[0-9a-f:]*:[0-9a-f:.]*(\/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))?)$/i;

/** Known to everybody, so production refuses them. */
export const developmentSecrets = {
  INTERNAL_AUTH_SECRET: 'development-internal-auth-secret-000',
  QUEUE_RECEIPT_SECRET: 'development-queue-receipt-secret-000',
  TICKET_SIGNING_KEY: 'ZGV2ZWxvcG1lbnQtdGlja2V0LXNpZ25pbmcta2V5MDA=',
  STRIPE_WEBHOOK_SECRET: 'whsec_development_sandbox_secret_000',
} as const;

const secret = (name: keyof typeof developmentSecrets) =>
  z.string().min(32, 'a secret has at least 32 characters').default(developmentSecrets[name]);

export const processSettings = z.object({
  NODE_ENV: z.string().default('development'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  BIND_HOST: z.string().default('127.0.0.1'),
});

export const databaseSettings = z.object({
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL'),
  DATABASE_REPLICA_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL')
    .optional(),
});

export const redisSettings = z.object({
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\/[^,\s]+(,rediss?:\/\/[^,\s]+)*$/, 'must be one redis:// URL or a comma-separated list of them'),
});

export const addressSettings = z.object({
  MONOLITH_PORT: port.default(3000),
  QUEUE_PORT: port.default(3001),
  WORKER_PORT: port.default(3002),
  PUBLIC_URL: httpUrl.optional(),
  QUEUE_PUBLIC_URL: httpUrl.optional(),
  QUEUE_INTERNAL_URL: httpUrl.optional(),
  CORS_ORIGINS: list.pipe(z.array(httpUrl)).default([]),
  TRUSTED_PROXIES: list.pipe(z.array(z.string().regex(cidr, 'must be a list of addresses or CIDR ranges'))).default([]),
});

export const callerSettings = z.object({
  AUTH_MODE: z.enum(['mock', 'jwt']).default('mock'),
  JWT_JWKS_URL: httpUrl.optional(),
  JWT_ISSUER: z.string().optional(),
  JWT_AUDIENCE: z.string().optional(),
  JWT_ROLES_CLAIM: z.string().default('roles'),
  INTERNAL_AUTH_SECRET: secret('INTERNAL_AUTH_SECRET'),
});

export const limitSettings = z.object({
  RATE_LIMIT_USER_PER_MINUTE: wholeNumber(0, 1_000_000).default(10),
  RATE_LIMIT_IP_PER_MINUTE: wholeNumber(0, 10_000_000).default(1000),
  REQUEST_DEADLINE_MS: wholeNumber(1000, 600_000).default(55_000),
});

export const queueSettings = z.object({
  QUEUE_RECEIPT_SECRET: secret('QUEUE_RECEIPT_SECRET'),
  QUEUE_PURCHASE_WINDOW_SECONDS: wholeNumber(5, 86_400).default(1200),
  QUEUE_PERSISTENCE_SECONDS: wholeNumber(5, 86_400).default(1800),
  QUEUE_PRESENCE_SECONDS: wholeNumber(1, 86_400).default(120),
  QUEUE_UPDATE_SECONDS: wholeNumber(1, 3600).default(30),
});

export const purchaseSettings = z.object({
  TICKET_SIGNING_KEY: z
    .string()
    .refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64')
    .default(developmentSecrets.TICKET_SIGNING_KEY),
  RESERVATION_HOLD_SECONDS: wholeNumber(5, 86_400).default(600),
  RESERVATION_EXPIRY_SECONDS: wholeNumber(1, 3600).default(30),
});

export const paymentSettings = z.object({
  PAYMENT_PROVIDER: z.enum(['sandbox', 'stripe']).default('sandbox'),
  STRIPE_API_BASE: httpUrl.default('https://api.stripe.com'),
  STRIPE_SECRET_KEY: z.string().optional(),
  STRIPE_WEBHOOK_SECRET: secret('STRIPE_WEBHOOK_SECRET'),
});

export const notificationSettings = z.object({
  EMAIL_PROVIDER: z.enum(['mailbox', 'mailgun', 'smtp']).default('mailbox'),
  MAIL_FROM: z.string().default('Tribina <tickets@tribina.local>'),
  MAILGUN_API_BASE: httpUrl.default('https://api.mailgun.net'),
  MAILGUN_DOMAIN: z.string().optional(),
  MAILGUN_API_KEY: z.string().optional(),
  SMTP_URL: z.string().optional(),
  PUSH_PROVIDER: z.enum(['mailbox', 'fcm']).default('mailbox'),
  FCM_API_BASE: httpUrl.default('https://fcm.googleapis.com'),
  FCM_SERVICE_ACCOUNT: z.string().optional(),
  ALERT_WEBHOOK_URL: httpUrl.optional(),
  NOTIFICATION_RETRY_SECONDS: list
    .pipe(z.array(wholeNumber(0, 86_400)).length(2, 'must be two numbers, as in "30,300"'))
    .default([30, 300]),
  EMAIL_RATE_PER_SECOND: wholeNumber(1, 100_000).default(100),
  PUSH_CALLS_PER_SECOND: wholeNumber(1, 100_000).default(1000),
});

export const jobSettings = z.object({
  JOBS_TRANSPORT: z.enum(['redis', 'postgres']).default('redis'),
  LOADER_SOURCES: z.string().optional(),
});

type Values = Readonly<Record<string, unknown>>;

/** What production must not run with, and what one setting demands of another; every fault, not the first. */
export function crossChecks(config: Values): string[] {
  const faults: string[] = [];
  const needs = (name: string, because: string) => {
    if (config[name] === undefined) faults.push(`${name}: is needed ${because}`);
  };
  if (config.AUTH_MODE === 'jwt')
    for (const name of ['JWT_JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE']) needs(name, 'with AUTH_MODE=jwt');
  if (config.PAYMENT_PROVIDER === 'stripe') needs('STRIPE_SECRET_KEY', 'with PAYMENT_PROVIDER=stripe');
  if (config.EMAIL_PROVIDER === 'mailgun')
    for (const name of ['MAILGUN_DOMAIN', 'MAILGUN_API_KEY']) needs(name, 'with EMAIL_PROVIDER=mailgun');
  if (config.EMAIL_PROVIDER === 'smtp') needs('SMTP_URL', 'with EMAIL_PROVIDER=smtp');
  if (config.PUSH_PROVIDER === 'fcm') needs('FCM_SERVICE_ACCOUNT', 'with PUSH_PROVIDER=fcm');
  if (config.NODE_ENV !== 'production') return faults;
  const refused: Record<string, string> = {
    AUTH_MODE: 'mock',
    PAYMENT_PROVIDER: 'sandbox',
    EMAIL_PROVIDER: 'mailbox',
    PUSH_PROVIDER: 'mailbox',
  };
  for (const [name, value] of Object.entries(refused))
    if (config[name] === value) faults.push(`${name}: ${value} is refused in production`);
  for (const [name, value] of Object.entries(developmentSecrets)) {
    if (config[name] === value) faults.push(`${name}: the development default is refused in production`);
  }
  return faults;
}

/** The addresses that follow from ports unless they are set. */
export function publicUrls(config: z.output<typeof addressSettings>): {
  publicUrl: string;
  queuePublicUrl: string;
  queueInternalUrl: string;
} {
  return {
    publicUrl: config.PUBLIC_URL ?? `http://127.0.0.1:${config.MONOLITH_PORT}`,
    queuePublicUrl: config.QUEUE_PUBLIC_URL ?? `http://127.0.0.1:${config.QUEUE_PORT}`,
    queueInternalUrl: config.QUEUE_INTERNAL_URL ?? `http://127.0.0.1:${config.QUEUE_PORT}`,
  };
}
