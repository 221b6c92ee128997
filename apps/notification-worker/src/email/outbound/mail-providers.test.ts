import { TooFast } from '#platform/sending/send-errors';
import { MailgunPeer } from '../../testing/mailgun-peer.ts';
import { SmtpPeer, type SmtpFault } from '../../testing/smtp-peer.ts';
import { mailProviderContract } from './mail-provider.contract.ts';
import { Mailgun } from './mailgun.ts';
import { SmtpServer } from './smtp-server.ts';

const TIMEOUT_MS = 500;

mailProviderContract('Mailgun', async () => {
  const peer = await MailgunPeer.start();
  const faults = {
    'refuses the address': { status: 400, body: { message: "'to' parameter is not a valid address: ana@example.com" } },
    'wrong credentials': { status: 401 },
    'in trouble': { status: 503 },
    'accept, then drop': 'accept, then swallow',
  } as const;
  return {
    provider: new Mailgun({ ...peer.settings, timeoutMs: TIMEOUT_MS }),
    arrived: peer.arrived,
    plan: (fault) => void peer.next.push(faults[fault]),
    shutDown: () => peer.close(),
    close: () => peer.close().catch(() => undefined),
  };
});

mailProviderContract('SMTP', async () => {
  const peer = await SmtpPeer.start();
  const faults: Record<string, SmtpFault> = {
    'refuses the address': { at: 'RCPT', reply: '550 5.1.1 <ana@example.com> unknown' },
    'wrong credentials': { at: 'AUTH', reply: '535 5.7.8 no' },
    'in trouble': { at: 'MAIL', reply: '421 4.3.2 closing' },
    'accept, then drop': 'accept, then swallow',
  };
  const provider = new SmtpServer({ url: peer.url, from: 'HNS tickets <tickets@hns.hr>', timeoutMs: TIMEOUT_MS });
  return {
    provider,
    arrived: peer.arrived,
    plan: (fault) => void peer.next.push(faults[fault] as SmtpFault),
    shutDown: () => peer.close(),
    close: async () => {
      provider.close();
      await peer.close().catch(() => undefined);
    },
  };
});

describe('Mailgun alone', () => {
  let peer: MailgunPeer;
  beforeEach(async () => void (peer = await MailgunPeer.start()));
  afterEach(() => peer.close());
  const mail = { messageId: 'm', template: 'refund', to: 'a@example.com', subject: 's', text: 't', html: 'h' };
  const failure = () => new Mailgun({ ...peer.settings, timeoutMs: TIMEOUT_MS }).send(mail).catch((error: unknown) => error);

  test.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': new Date(Date.now() + 30_000).toUTCString() }, 29_500],
    [{ 'retry-after': 'soon' }, 1000],
    [{}, 1000],
  ] as const)('a 429 with %o asks for a pause of about %i ms', async (headers, wanted) => {
    peer.next.push({ status: 429, headers: headers as unknown as Record<string, string> });
    const error = await failure();
    expect(error).toBeInstanceOf(TooFast);
    expect(Math.abs((error as TooFast).forMs - wanted)).toBeLessThan(3000);
  });

  test('a line cut after the request may have delivered it', async () => {
    peer.next.push('hang up');
    expect(((await failure()) as Error).constructor.name).toBe('NoAnswer');
  });

  test('an address that redirects elsewhere is not followed', async () => {
    peer.next.push({ status: 307, headers: { location: `${peer.settings.base}/elsewhere` } });
    expect(((await failure()) as Error).constructor.name).toBe('NotSent');
    expect(peer.requests).toBe(1);
  });
});

describe('SMTP alone', () => {
  const mail = { messageId: 'm', template: 'refund', to: 'a@example.com', subject: 's', text: 't', html: 'h' };

  test.each([
    [{ at: 'RCPT', reply: '450 4.2.1 try later' }, 'NotSent'],
    [{ at: 'MAIL', reply: '421 4.3.2 closing' }, 'ProviderDown'],
    [{ at: 'MESSAGE', reply: '554 5.7.1 spam' }, 'Refused'],
    [{ at: 'MESSAGE', reply: '451 4.3.0 later' }, 'NotSent'],
    ['hang up at greeting', 'NoAnswer'],
  ] as const)('%o is %s, and is not sent again by itself', async (fault, kind) => {
    const peer = await SmtpPeer.start();
    peer.next.push(fault);
    const provider = new SmtpServer({ url: peer.url, from: 'a@b.hr', timeoutMs: TIMEOUT_MS });
    const error = await provider.send(mail).catch((reason: unknown) => reason);
    expect((error as Error).constructor.name).toBe(kind);
    expect(peer.arrived).toEqual([]);
    provider.close();
    await peer.close();
  });
});
