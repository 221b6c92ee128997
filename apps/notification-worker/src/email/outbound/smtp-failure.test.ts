import { FakeSmtpServer } from '../../testing/fake-smtp-server.ts';
import { SmtpServer } from './smtp-server.ts';
import { smtpFailure, type SmtpError } from './smtp-failure.ts';
import net from 'node:net';

const mail = { messageId: 'm', template: 'refund', to: 'ana.horvat@example.com', subject: 's', text: 't', html: 'h' };
const from = 'HNS tickets <tickets@hns.hr>';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Sends the mail to the server of this URL. Returns the error as `<class>: <message>`. */
async function failureOf(url: string): Promise<string> {
  const provider = new SmtpServer({ url, from, timeoutMs: 300 });
  const error = await provider.send(mail).catch((reason: unknown) => reason);
  provider.close();
  return error instanceof Error ? `${error.constructor.name}: ${error.message}` : 'sent';
}

async function failureAfter(at: 'GREETING' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'MESSAGE', reply: string): Promise<string> {
  const peer = await FakeSmtpServer.start();
  peer.next.push({ at, reply });
  const failure = await failureOf(peer.url);
  await peer.close();
  return failure;
}

test.each([
  ['RCPT', '550 5.1.1 no such user', 'Refused: smtp RCPT TO: 550 5.1.1 no such user'],
  ['RCPT', '452 4.2.2 mailbox full', 'NotSent: smtp RCPT TO: 452 4.2.2 mailbox full'],
  ['MESSAGE', '554 5.7.1 looks like spam', 'Refused: smtp DATA: 554 5.7.1 looks like spam'],
  ['AUTH', '535 5.7.8 wrong password', 'NotSent: smtp AUTH PLAIN: 535 5.7.8 wrong password'],
  [
    'MAIL',
    '550-5.7.1 This sender\r\n550-5.7.1 is not\r\n550 5.7.1 yours',
    'NotSent: smtp MAIL FROM: 550 5.7.1 This sender is not yours',
  ],
  ['GREETING', '554 5.7.1 blocked', 'ProviderDown: smtp CONN: 554 5.7.1 blocked'],
  ['MAIL', '421 4.3.2 closing', 'ProviderDown: smtp MAIL FROM: 421 4.3.2 closing'],
] as const)('smtp: after %s is answered with %j, the error is "%s"', async (at, reply, expected) => {
  expect(await failureAfter(at, reply)).toBe(expected);
});

test.each([
  ['<ana.horvat@example.com>: unknown', '<•••>: unknown'],
  ['user ANA.HORVAT does not exist, ask postmaster@example.com', 'user ••• does not exist, ask •••'],
  ['see https://example.com/?to=ana.horvat@example.com', 'see https://example.com/?to=•••'],
  ['anahorvat is not our ana.horvatova', 'anahorvat is not our ana.horvatova'],
  [`not AUTH PLAIN ${base64('\0user\0p@ss')} nor p@ss nor ${base64('p@ss')}`, 'not AUTH PLAIN ••• nor ••• nor •••'],
])('smtp: of the reply %j the error shows %j: no address and no password', async (reply, shown) => {
  expect(await failureAfter('RCPT', `550 ${reply}`)).toBe(`Refused: smtp RCPT TO: 550 ${shown}`);
});

test('smtp: a long reply is cut to 200 characters, and no part of an address is left at the cut', async () => {
  const failure = await failureAfter('RCPT', `550 ${'long '.repeat(300)}`);
  expect(failure).toHaveLength('Refused: smtp RCPT TO: '.length + 201);
  expect(failure.endsWith('…')).toBe(true);
  for (const length of [985, 990, 995]) {
    const words = `${'a@b.hr '.repeat(200)}`.slice(0, length);
    expect(await failureAfter('RCPT', `550 ${words} ana.horvat@example.com`)).not.toMatch(/ana|example|@/);
  }
});

test('smtp: the error of a server without TLS and of a refused connection names what happened', async () => {
  const peer = await FakeSmtpServer.start();
  const { port } = new URL(peer.url);
  const withTls = await failureOf(`smtps://user:p%40ss@127.0.0.1:${port}`);
  await peer.close();
  expect(withTls).toMatch(/^ProviderDown: smtp CONN: TLS failed: .*wrong version/i);
  expect(await failureOf(`smtp://127.0.0.1:${port}`)).toBe(
    `ProviderDown: smtp CONN: connection refused: connect ECONNREFUSED 127.0.0.1:${port}`,
  );
});

test('smtp: the error of a server that accepts connections and says nothing names the timeout', async () => {
  const sockets: net.Socket[] = [];
  const silent = net.createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const failure = await failureOf(`smtp://127.0.0.1:${(silent.address() as net.AddressInfo).port}`);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
  expect(failure).toBe('ProviderDown: smtp CONN: timeout: Greeting never received');
});

test.each([
  [
    { code: 'ESOCKET', originalCode: 'CERT_HAS_EXPIRED' },
    'certificate has expired',
    'ProviderDown: smtp CONN: TLS failed: certificate has expired',
  ],
  [
    { code: 'ETLS' },
    'Error initiating TLS - self-signed certificate',
    'ProviderDown: smtp CONN: TLS failed: Error initiating TLS - self-signed certificate',
  ],
  [
    { code: 'EDNS', originalCode: 'ENOTFOUND' },
    'getaddrinfo ENOTFOUND mail.hns.hr',
    'ProviderDown: smtp CONN: host not found: getaddrinfo ENOTFOUND mail.hns.hr',
  ],
  [
    { code: 'ESOCKET', originalCode: 'EHOSTUNREACH', syscall: 'connect' },
    'connect EHOSTUNREACH',
    'ProviderDown: smtp CONN: no connection: connect EHOSTUNREACH',
  ],
  [
    { code: 'ESOCKET', originalCode: 'ECONNRESET', syscall: 'read' },
    'read ECONNRESET',
    'NoAnswer: smtp CONN: connection lost: read ECONNRESET',
  ],
  [{ code: 'ETIMEDOUT' }, 'Timeout', 'NoAnswer: smtp CONN: timeout: Timeout'],
  [
    { code: 'ESOCKET', originalCode: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC' },
    'bad record mac',
    'NoAnswer: smtp CONN: connection lost: bad record mac',
  ],
])('smtpFailure: an error of nodemailer with %o and the message "%s" becomes "%s"', (codes, message, expected) => {
  const error = Object.assign(new Error(message), { command: 'CONN', ...codes }) as SmtpError;
  const failure = smtpFailure(error, { recipient: mail.to, secrets: [] });
  expect(`${failure.constructor.name}: ${failure.message}`).toBe(expected);
});
