import { RateLimited } from '#messaging/sending/send-errors';
import { FakeMailgun } from '../../testing/fake-mailgun.ts';
import { FakeSmtpServer, type SmtpFault } from '../../testing/fake-smtp-server.ts';
import { mailProviderContract } from './mail-provider.contract.ts';
import { Mailgun } from './mailgun.ts';
import { SmtpServer } from './smtp-server.ts';

const TIMEOUT_MS = 500;

mailProviderContract('Mailgun', async () => {
  const peer = await FakeMailgun.start();
  const faults = {
    'refused address': { status: 400, body: { message: "'to' parameter is not a valid address: ana@example.com" } },
    'wrong credentials': { status: 401 },
    'server error': { status: 503 },
    'accepted without an answer': 'accept without answer',
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
  const peer = await FakeSmtpServer.start();
  const faults: Record<string, SmtpFault> = {
    'refused address': { at: 'RCPT', reply: '550 5.1.1 <ana@example.com> unknown' },
    'wrong credentials': { at: 'AUTH', reply: '535 5.7.8 no' },
    'server error': { at: 'MAIL', reply: '421 4.3.2 closing' },
    'accepted without an answer': 'accept without answer',
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

describe('Mailgun', () => {
  let peer: FakeMailgun;
  beforeEach(async () => void (peer = await FakeMailgun.start()));
  afterEach(() => peer.close());
  const mail = { messageId: 'm', template: 'refund', to: 'a@example.com', subject: 's', text: 't', html: 'h' };
  const failure = () => new Mailgun({ ...peer.settings, timeoutMs: TIMEOUT_MS }).send(mail).catch((error: unknown) => error);

  test.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': new Date(Date.now() + 30_000).toUTCString() }, 29_500],
    [{ 'retry-after': 'soon' }, 1000],
    [{}, 1000],
  ] as const)('an answer 429 with headers %o asks for a pause of about %i ms', async (headers, expectedMs) => {
    peer.next.push({ status: 429, headers: headers as unknown as Record<string, string> });
    const error = await failure();
    expect(error).toBeInstanceOf(RateLimited);
    expect(Math.abs((error as RateLimited).forMs - expectedMs)).toBeLessThan(3000);
  });

  test('when the connection is lost after the request, send throws NoAnswer: the mail may have been sent', async () => {
    peer.next.push('disconnect');
    expect(((await failure()) as Error).constructor.name).toBe('NoAnswer');
  });

  test('a redirect is not followed, and send throws NotSent', async () => {
    peer.next.push({ status: 307, headers: { location: `${peer.settings.base}/elsewhere` } });
    expect(((await failure()) as Error).constructor.name).toBe('NotSent');
    expect(peer.requests).toBe(1);
  });
});

describe('SMTP', () => {
  const mail = { messageId: 'm', template: 'refund', to: 'a@example.com', subject: 's', text: 't', html: 'h' };

  test.each([
    [{ at: 'RCPT', reply: '450 4.2.1 try later' }, 'NotSent'],
    [{ at: 'MAIL', reply: '421 4.3.2 closing' }, 'ProviderDown'],
    [{ at: 'MESSAGE', reply: '554 5.7.1 spam' }, 'Refused'],
    [{ at: 'MESSAGE', reply: '451 4.3.0 later' }, 'NotSent'],
    [{ at: 'MAIL', reply: '550 5.7.1 sender refused' }, 'NotSent'],
    [{ at: 'MAIL', reply: '552 5.3.4 too large' }, 'Refused'],
    [{ at: 'GREETING', reply: '554 5.7.1 your network is blocked' }, 'ProviderDown'],
    ['disconnect at greeting', 'NoAnswer'],
  ] as const)('after the fault %o send throws %s, and the SMTP library does not send the mail again', async (fault, kind) => {
    const peer = await FakeSmtpServer.start();
    peer.next.push(fault);
    const provider = new SmtpServer({ url: peer.url, from: 'a@b.hr', timeoutMs: TIMEOUT_MS });
    const error = await provider.send(mail).catch((reason: unknown) => reason);
    expect((error as Error).constructor.name).toBe(kind);
    expect(peer.arrived).toEqual([]);
    provider.close();
    await peer.close();
  });
});
