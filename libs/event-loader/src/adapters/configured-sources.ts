import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { ConfiguredSource } from './fetcher-by-kind.ts';

/** Half of a fetch: with more of it asked for again, a busy source would hardly move on. */
const MOST_OVERLAP = 500;

const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'must be a name of a–z, 0–9, dot, dash or underscore');
const overlap = z.int().min(0).max(MOST_OVERLAP).default(0);
const url = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
  .refine((text) => !URL.canParse(text) || new URL(text).username === '', 'must not carry a password: use headers');
const headers = z.record(z.string().regex(/^[\w-]+$/, 'is not the name of a header'), z.string()).default({});
/** What the events are for. Without it they are kept and nothing more. */
const feeds = z.enum(['payments', 'gate-scans', 'partner-sales']).optional();

const source = z.discriminatedUnion('kind', [
  z.strictObject({ name, kind: z.literal('http'), url, headers, overlap, feeds }),
  z.strictObject({ name, kind: z.literal('stripe'), url: url.optional(), headers, overlap: z.literal(0).default(0), feeds }),
  z.strictObject({ name, kind: z.literal('file'), path: z.string().min(1), overlap, feeds }),
]);
const sourceList = z.array(source).min(1, 'must name at least one source');

type Environment = Readonly<Record<string, string | undefined>>;

/** The file named by LOADER_SOURCES, or everything that is wrong with it. */
export function readSources(file: string, env: Environment): { sources: ConfiguredSource[]; faults: string[] } {
  let given: unknown;
  try {
    given = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { sources: [], faults: [code ? `${file} cannot be read (${code})` : `${file} is not JSON`] };
  }
  return parseSources(given, env, path.dirname(path.resolve(file)));
}

/** Paths of files are taken from the folder of the configuration. */
export function parseSources(
  given: unknown,
  env: Environment,
  folder: string,
): { sources: ConfiguredSource[]; faults: string[] } {
  const parsed = sourceList.safeParse(given);
  if (!parsed.success)
    return { sources: [], faults: parsed.error.issues.map((issue) => `${whereOf(issue.path, given)}${issue.message}`) };
  const faults: string[] = [];
  const names = parsed.data.map((one) => one.name);
  for (const twice of new Set(names.filter((one, index) => names.indexOf(one) !== index)))
    faults.push(`${twice}: there are two of this name`);
  const sources = parsed.data.map((one): ConfiguredSource => {
    if (one.kind === 'file') return { ...one, ids: 'numbers', path: path.resolve(folder, one.path) };
    const fault = (text: string): void => void faults.push(`${one.name}: ${text}`);
    const filled = fillIn(one.headers, env, fault);
    if (one.kind === 'http') return { ...one, ids: 'numbers', headers: filled };
    return { ...one, ids: 'listed', feeds: 'payments', url: eventsUrl(one.url, env), headers: withKey(filled, env, fault) };
  });
  return { sources, faults };
}

/** `sources[2] (gate-north).url: ` */
function whereOf([index, ...rest]: readonly PropertyKey[], given: unknown): string {
  if (typeof index !== 'number') return '';
  const { name: called } = ((given as unknown[])[index] ?? {}) as { name?: unknown };
  const field = rest.length > 0 ? `.${rest.join('.')}` : '';
  return `[${index}]${typeof called === 'string' ? ` (${called.slice(0, 63)})` : ''}${field}: `;
}

/** `${NAME}` in a header is the environment's: the file holds no secrets. */
function fillIn(
  given: Readonly<Record<string, string>>,
  env: Environment,
  fault: (text: string) => void,
): Record<string, string> {
  const fill = (text: string): string =>
    text.replaceAll(/\$\{(\w+)\}/g, (_whole, variable: string) => {
      const value = env[variable]?.trim();
      if (!value) fault(`${variable} is not in the environment`);
      return value ?? '';
    });
  const filled = Object.entries(given).map(([header, text]) => [header.toLowerCase(), fill(text)] as const);
  for (const [header, text] of filled) if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) fault(`the value of ${header} cannot be sent`);
  return Object.fromEntries(filled);
}

function withKey(headers: Record<string, string>, env: Environment, fault: (text: string) => void): Record<string, string> {
  if (headers.authorization) return headers;
  if (!env.STRIPE_SECRET_KEY) fault('needs an authorization header, or STRIPE_SECRET_KEY in the environment');
  return { ...headers, authorization: `Bearer ${env.STRIPE_SECRET_KEY ?? ''}` };
}

function eventsUrl(given: string | undefined, env: Environment): string {
  const base = (env.STRIPE_API_BASE?.trim() || 'https://api.stripe.com').replace(/\/+$/, '');
  const address = new URL(given ?? `${base}/v1/events`);
  // A host alone is where Stripe's API begins.
  if (address.pathname === '/') address.pathname = '/v1/events';
  return address.href;
}
