import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { ServiceAccount } from '../push/outbound/fcm-access.ts';
import { FakeHttpServer, type FakeAnswer, type ReceivedRequest } from './fake-http-server.ts';

/** A push that the fake FCM accepted. */
export interface ArrivedPush {
  readonly at: number;
  readonly token: string;
  readonly message: Readonly<Record<string, unknown>>;
}

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const CLIENT = 'worker@tribina-test.iam.gserviceaccount.com';

/** An error in the format of FCM's HTTP v1 API. */
export function fcmError(
  status: number,
  errorCode: string,
  options: { message?: string; field?: string; retryAfter?: number } = {},
): FakeAnswer {
  return {
    status,
    headers: options.retryAfter === undefined ? {} : { 'retry-after': String(options.retryAfter) },
    body: {
      error: {
        code: status,
        message: options.message ?? errorCode,
        status: errorCode,
        details: [
          { '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode },
          ...(options.field
            ? [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: options.field }] }]
            : []),
        ],
      },
    },
  };
}

/** A fake server of Firebase Cloud Messaging and of Google's OAuth token endpoint, on one port. */
export class FakeFcm {
  readonly arrived: ArrivedPush[] = [];
  /** By device token: the answer to every push to this device. */
  readonly devices = new Map<string, FakeAnswer>();
  /** The answers to the next pushes, one answer for each push. */
  readonly next: FakeAnswer[] = [];
  /** The answer to pushes for which `devices` and `next` have none. While it is undefined, those pushes are accepted. */
  always: FakeAnswer | undefined;
  /** The answer of the token endpoint. While it is undefined, it grants tokens. */
  oauth: FakeAnswer | undefined;
  delayMs = 0;
  /** The number of access tokens granted so far. */
  granted = 0;
  private valid = new Set<string>();
  private peer!: FakeHttpServer;

  static async start(): Promise<FakeFcm> {
    const self = new FakeFcm();
    self.peer = await FakeHttpServer.start((request) => (request.path === '/token' ? self.grant(request) : self.send(request)));
    return self;
  }

  get url(): string {
    return this.peer.url;
  }

  get account(): ServiceAccount {
    return {
      project_id: 'tribina-test',
      client_email: CLIENT,
      private_key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      private_key_id: 'k1',
      token_uri: `${this.peer.url}/token`,
    };
  }

  get times(): number[] {
    return this.peer.requests.filter(({ path }) => path !== '/token').map(({ at }) => at);
  }

  /** Revokes all access tokens granted so far. */
  withdraw(): void {
    this.valid.clear();
  }

  close(): Promise<void> {
    return this.peer.close();
  }

  private async grant({ body }: ReceivedRequest): Promise<FakeAnswer> {
    if (this.oauth) return this.oauth;
    const form = new URLSearchParams(body);
    const { payload } = await jwtVerify(
      form.get('assertion') ?? '',
      createPublicKey(keys.publicKey.export({ type: 'spki', format: 'pem' })),
      {
        issuer: CLIENT,
        audience: `${this.peer.url}/token`,
      },
    ).catch(() => ({ payload: undefined }));
    const isValid =
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
      payload?.scope === 'https://www.googleapis.com/auth/firebase.messaging';
    if (!isValid) return { status: 400, body: { error: 'invalid_grant' } };
    this.granted += 1;
    const token = `ya29.${this.granted}`;
    this.valid.add(token);
    return { status: 200, body: { access_token: token, expires_in: 3599, token_type: 'Bearer' } };
  }

  private async send({ path, headers, body, at }: ReceivedRequest): Promise<FakeAnswer> {
    if (path !== '/v1/projects/tribina-test/messages:send') return { status: 404 };
    if (!this.valid.has(String(headers.authorization).replace('Bearer ', ''))) {
      return { status: 401, body: { error: { code: 401, status: 'UNAUTHENTICATED' } } };
    }
    const { message } = JSON.parse(body) as { message: { token: string } & Record<string, unknown> };
    const planned = this.next.shift() ?? this.devices.get(message.token) ?? this.always;
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    if (planned && planned !== 'no answer') return planned;
    this.arrived.push({ at, token: message.token, message });
    return planned ?? { status: 200, body: { name: `projects/tribina-test/messages/${this.arrived.length}` } };
  }
}
