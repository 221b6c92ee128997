import { importPKCS8, SignJWT } from 'jose';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { jsonIn } from '#platform/http-client/http-client';
import { post } from '#messaging/sending/post-to-provider';
import { NotSent, ProviderDown } from '#messaging/sending/send-errors';

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The lifetime of an assertion (the signed JWT that we exchange for an access token): one hour, Google's maximum. */
const ASSERTION_SECONDS = 3600;
/**
 * An access token is not used in the last minute before it expires, because a call may wait for the rate limiter before it is
 * sent.
 */
const EXPIRY_MARGIN_MS = 60_000;

/** The schema of the file that FCM_SERVICE_ACCOUNT names: the key of a Google service account. */
export const serviceAccount = z.object({
  project_id: z.string().regex(/^[\w-]+$/),
  client_email: z.string().min(1),
  private_key: z.string().startsWith('-----BEGIN'),
  private_key_id: z.string().optional(),
  token_uri: z.url({ protocol: /^https?$/ }),
});
export type ServiceAccount = z.output<typeof serviceAccount>;

const tokenAnswer = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

/**
 * Reads the Google service account from the file that FCM_SERVICE_ACCOUNT names. Errors never contain the content of the file.
 */
export async function readServiceAccount(path: string): Promise<ServiceAccount> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`FCM_SERVICE_ACCOUNT: cannot be read (${error.code ?? 'unknown'})`);
  });
  const content = jsonIn({ body: text });
  if (content === undefined) throw new Error('FCM_SERVICE_ACCOUNT: is not JSON');
  const parsed = serviceAccount.safeParse(content);
  if (parsed.success) return parsed.data;
  const fields = [...new Set(parsed.error.issues.map(({ path: at }) => at.join('.')))];
  throw new Error(`FCM_SERVICE_ACCOUNT: is not a service account (${fields.join(', ')})`);
}

/**
 * Gets OAuth access tokens for a service account: it exchanges a signed assertion for a token that is valid for an hour.
 * Simultaneous callers share one request.
 */
export class FcmAccess {
  private token: { readonly value: string; readonly until: number } | undefined;
  private pendingRequest: Promise<string> | undefined;

  constructor(
    private readonly account: ServiceAccount,
    private readonly timeoutMs: number,
  ) {}

  async accessToken(): Promise<string> {
    if (this.token && Date.now() < this.token.until) return this.token.value;
    this.pendingRequest ??= this.requestToken().finally(() => (this.pendingRequest = undefined));
    return this.pendingRequest;
  }

  /** Drops an access token that FCM no longer accepts. */
  forget(token: string): void {
    if (this.token?.value === token) this.token = undefined;
  }

  private async requestToken(): Promise<string> {
    const { client_email, private_key, private_key_id, token_uri } = this.account;
    const assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(private_key_id ? { kid: private_key_id } : {}) })
      .setIssuer(client_email)
      .setAudience(token_uri)
      .setIssuedAt()
      .setExpirationTime(`${ASSERTION_SECONDS}s`)
      .sign(await importPKCS8(private_key, 'RS256'));
    const answer = await post({
      url: token_uri,
      body: new URLSearchParams({ grant_type: GRANT, assertion }),
      timeoutMs: this.timeoutMs,
    }).catch((error: unknown) => {
      // No push is sent without an access token, so the error is ProviderDown (certainly not sent) and never an unknown outcome.
      throw new ProviderDown(`access token: ${error instanceof Error ? error.message : 'no answer'}`);
    });
    if (answer.status >= 500 || answer.status === 429) throw new ProviderDown(`access token: answered ${answer.status}`);
    const granted = tokenAnswer.safeParse(answer.body);
    if (answer.status !== 200 || !granted.success) throw new NotSent(`access token: answered ${answer.status}`);
    const until = Date.now() + granted.data.expires_in * 1000 - EXPIRY_MARGIN_MS;
    this.token = { value: granted.data.access_token, until };
    return granted.data.access_token;
  }
}
