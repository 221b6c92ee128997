import { isPublicSecret, isWeakSecret } from './secret-strength.ts';
import { developmentSecrets } from './settings.ts';

/** The settings that are needed if another setting has this value. */
const NEEDED_WITH: readonly (readonly [setting: string, value: string, ...needed: string[]])[] = [
  ['AUTH_MODE', 'jwt', 'JWT_JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE'],
  ['PAYMENT_PROVIDER', 'stripe', 'STRIPE_SECRET_KEY'],
  ['EMAIL_PROVIDER', 'mailgun', 'MAILGUN_DOMAIN', 'MAILGUN_API_KEY'],
  ['EMAIL_PROVIDER', 'smtp', 'SMTP_URL'],
  ['PUSH_PROVIDER', 'fcm', 'FCM_SERVICE_ACCOUNT'],
];
/** Values for development, which production refuses. */
const developmentValues = { AUTH_MODE: 'mock', PAYMENT_PROVIDER: 'sandbox', EMAIL_PROVIDER: 'mailbox', PUSH_PROVIDER: 'mailbox' };

/** True for an address that only programs on this machine can reach. */
const isLoopback = (host: unknown): boolean => /^(localhost|127(\.\d{1,3}){3}|::ffff:127(\.\d{1,3}){3}|::1)$/i.test(String(host));

/** Checks the rules that concern several settings, and refuses development values in production. Returns all faults. */
export function crossChecks(config: Readonly<Record<string, unknown>>): string[] {
  // A worker that sends only mails or only pushes needs the credentials of its own provider and no others. The monolith sends no pushes.
  // It reads PUSH_PROVIDER to find out whether it must make any for the worker, so it needs no credentials.
  const isWorker = 'WORKER_QUEUES' in config;
  const unused = isWorker ? { email: 'PUSH_PROVIDER', push: 'EMAIL_PROVIDER' }[String(config.WORKER_QUEUES)] : 'PUSH_PROVIDER';
  const faults = NEEDED_WITH.flatMap(([setting, value, ...needed]) => {
    const missing = config[setting] === value && setting !== unused ? needed.filter((name) => config[name] === undefined) : [];
    return missing.map((name) => `${name}: is needed with ${setting}=${value}`);
  });
  if (config.NODE_ENV !== 'production') {
    // The headers of mock mode make any caller an operator. Only this machine may send them, unless the operator says otherwise.
    if (config.AUTH_MODE === 'mock' && !isLoopback(config.BIND_HOST) && config.ALLOW_MOCK_ON_NETWORK !== true)
      faults.push('AUTH_MODE: mock is refused when BIND_HOST is not a loopback address, unless ALLOW_MOCK_ON_NETWORK is true');
    return faults;
  }
  for (const [name, value] of Object.entries(developmentValues))
    if (config[name] === value && (isWorker || name !== unused)) faults.push(`${name}: ${value} is refused in production`);
  return [...faults, ...secretFaults(config), ...openDoors(config)];
}

/** Secrets that anybody knows or can guess. The secret of Stripe's webhooks is Stripe's, so only its default is refused. */
function secretFaults(config: Readonly<Record<string, unknown>>): string[] {
  const defaults = Object.values(developmentSecrets);
  return Object.keys(developmentSecrets).flatMap((name) => {
    const values = [config[name] ?? []].flat() as string[];
    if (values.some((value) => isPublicSecret(value, defaults)))
      return [`${name}: a development default is refused in production, in any spelling`];
    if (name === 'STRIPE_WEBHOOK_SECRET' || !values.some(isWeakSecret)) return [];
    return [`${name}: a secret of fewer than 16 bytes or fewer than 8 different bytes is refused in production`];
  });
}

/** Settings that would let a stranger replace the keys of the identity provider, or call without a limit. */
function openDoors(config: Readonly<Record<string, unknown>>): string[] {
  const keys = config.JWT_JWKS_URL;
  return [
    ...(typeof keys === 'string' && !keys.startsWith('https:') ? ['JWT_JWKS_URL: http is refused in production, use https'] : []),
    ...(config.WEBHOOK_ALLOW_PRIVATE === true ? ['WEBHOOK_ALLOW_PRIVATE: true is refused in production'] : []),
    ...Object.entries(config)
      .filter(([name, value]) => name.startsWith('RATE_LIMIT_') && value === 0)
      .map(([name]) => `${name}: 0 (no limit) is refused in production`),
  ];
}
