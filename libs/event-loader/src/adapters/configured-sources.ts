import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { FileSource } from './file-event-fetcher.ts';
import type { HttpSource } from './http-event-fetcher.ts';
import type { StoredSource } from './postgres-event-store.ts';
import type { StripeSource } from './stripe-event-fetcher.ts';

/** A source of the configuration file. */
export type ConfiguredSource = (HttpSource | StripeSource | FileSource) & StoredSource;

/**
 * The largest overlap (ids below the cursor that are requested again) is half of a fetch. With more, most events of each fetch
 * would be known, and the cursor of a busy source would hardly advance.
 */
const MAX_OVERLAP = 500;

const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'must be a name of a–z, 0–9, dot, dash or underscore');
const overlap = z.int().min(0).max(MAX_OVERLAP).default(0);
const url = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
  .refine((text) => !URL.canParse(text) || new URL(text).username === '', 'must not carry a password: use headers');
const headers = z.record(z.string().regex(/^[\w-]+$/, 'is not the name of a header'), z.string()).default({});
/** The field `feeds` of a source: which use case handles its events. Without the field the events are only stored. */
const feeds = z.enum(['payments', 'gate-scans', 'partner-sales']).optional();

const source = z.discriminatedUnion('kind', [
  z.strictObject({ name, kind: z.literal('http'), url, headers, overlap, feeds }),
  z.strictObject({ name, kind: z.literal('stripe'), url: url.optional(), headers, overlap: z.literal(0).default(0), feeds }),
  z.strictObject({ name, kind: z.literal('file'), path: z.string().min(1), overlap, feeds }),
]);
const sourceList = z.array(source).min(1, 'must name at least one source');

type Environment = Readonly<Record<string, string | undefined>>;

/** The sources of the configuration file, and everything that is wrong in it. */
interface ReadSources {
  readonly sources: ConfiguredSource[];
  readonly faults: string[];
}

/**
 * Reads the configured sources from the file that the setting LOADER_SOURCES names. `faults` lists everything wrong in the file.
 */
export function readSources(file: string, env: Environment): ReadSources {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { sources: [], faults: [code ? `${file} cannot be read (${code})` : `${file} is not JSON`] };
  }
  return parseSources(content, env, path.dirname(path.resolve(file)));
}

/** Parses the content of the configuration file. Relative paths of file sources start at `folder`, the folder of that file. */
export function parseSources(content: unknown, env: Environment, folder: string): ReadSources {
  const parsed = sourceList.safeParse(content);
  if (!parsed.success)
    return { sources: [], faults: parsed.error.issues.map((issue) => `${locationOf(issue.path, content)}${issue.message}`) };
  const faults: string[] = [];
  const names = parsed.data.map((entry) => entry.name);
  for (const duplicate of new Set(names.filter((entry, index) => names.indexOf(entry) !== index)))
    faults.push(`${duplicate}: the name is used twice`);
  const sources = parsed.data.map((entry): ConfiguredSource => {
    if (entry.kind === 'file') return { ...entry, ids: 'numbers', path: path.resolve(folder, entry.path) };
    const addFault = (text: string): void => void faults.push(`${entry.name}: ${text}`);
    const filled = fillIn(entry.headers, env, addFault);
    if (entry.kind === 'http') return { ...entry, ids: 'numbers', headers: filled };
    if (!filled.authorization && !env.STRIPE_SECRET_KEY)
      addFault('needs an authorization header, or STRIPE_SECRET_KEY in the environment');
    const authorization = filled.authorization || `Bearer ${env.STRIPE_SECRET_KEY ?? ''}`;
    return {
      ...entry,
      ids: 'listed',
      feeds: 'payments',
      url: stripeEventsUrl(entry.url, env),
      headers: { ...filled, authorization },
    };
  });
  return { sources, faults };
}

/** Where in the configuration file a fault is: index, name and field of the source. Example: `[2] (gate-north).url: `. */
function locationOf([index, ...rest]: readonly PropertyKey[], content: unknown): string {
  if (typeof index !== 'number') return '';
  const { name: sourceName } = ((content as unknown[])[index] ?? {}) as { name?: unknown };
  const field = rest.length > 0 ? `.${rest.join('.')}` : '';
  return `[${index}]${typeof sourceName === 'string' ? ` (${sourceName.slice(0, 63)})` : ''}${field}: `;
}

/** Replaces `${NAME}` in header values by the environment variable, so that the file contains no secrets. */
function fillIn(
  templates: Readonly<Record<string, string>>,
  env: Environment,
  addFault: (text: string) => void,
): Record<string, string> {
  const fill = (text: string): string =>
    text.replaceAll(/\$\{(\w+)\}/g, (_whole, variable: string) => {
      const value = env[variable]?.trim();
      if (!value) addFault(`${variable} is not in the environment`);
      return value ?? '';
    });
  const filled = Object.entries(templates).map(([header, text]) => [header.toLowerCase(), fill(text)] as const);
  for (const [header, text] of filled)
    if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) addFault(`the value of ${header} cannot be sent`);
  return Object.fromEntries(filled);
}

function stripeEventsUrl(configured: string | undefined, env: Environment): string {
  const base = (env.STRIPE_API_BASE?.trim() || 'https://api.stripe.com').replace(/\/+$/, '');
  const address = new URL(configured ?? `${base}/v1/events`);
  // A URL that names only the host gets the path of Stripe's list of events.
  if (address.pathname === '/') address.pathname = '/v1/events';
  return address.href;
}
