import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Client } from 'pg';
import { Buyers } from '../purchase/buyers.ts';
import { withClient } from '../purchase/stadiums.ts';
import { type CpuProfile, MAIL_PARTS, splitProfile } from './cpu-profile.ts';
import { neededMails, sentMails, waitForMails } from './mails.ts';
import { type PartTimes, timesPerPiece } from './parts.ts';
import { DRAIN_RATE_PER_SECOND, type WholeSetup } from './run.ts';
import { smtpSettings, StartedSystem } from './system.ts';

const BUYERS = 64;
const WARM_UP_MAILS = 300;
const TIMEOUT_MS = 60_000;

/** What one mail costs with one provider, in microseconds of processor time. */
export interface MailCost {
  readonly provider: string;
  readonly mails: number;
  readonly perMail: PartTimes;
  /** The worker's processor time by part of its work. */
  readonly worker: Readonly<Record<string, number>>;
}

/**
 * Sells without a worker for some seconds. Then a worker with a CPU profile sends half of the mails to the mailbox, and another one
 * sends the rest to an SMTP server, each with a limit of DRAIN_RATE_PER_SECOND.
 */
export async function measureMailCosts(
  { servers, stadiums, stadium, mailServer }: WholeSetup,
  seconds: number,
): Promise<MailCost[]> {
  const copy = await stadiums.copyOf(stadium);
  let system: StartedSystem | undefined;
  try {
    const started = await StartedSystem.start({ servers, mailServer, databaseUrl: copy.url }, 'absent');
    system = started;
    const address = { databaseUrl: copy.url, redisUrl: servers.redisUrl, serviceUrl: started.monolith.url, callers: BUYERS };
    const { matches } = stadium;
    const buyers = await Buyers.open({ kind: 'purchases as a fan', address, matches, warmUpMatches: 1, processes: 1 });
    await buyers.warmUp(seconds);
    await buyers.close();
    return await withClient(copy.url, async (client) => {
      const needed = await neededMails(client);
      const toMailbox = { provider: 'mailbox', settings: {}, target: Math.floor(needed / 2) };
      const toServer = { provider: 'SMTP server', settings: smtpSettings(mailServer.url), target: needed };
      return [await profileMails(client, started, toMailbox), await profileMails(client, started, toServer)];
    });
  } finally {
    await system?.stop();
    await copy.drop();
  }
}

interface ProfiledSend {
  readonly provider: string;
  readonly settings: Readonly<Record<string, string>>;
  /** The worker stops when so many mails were sent since the database was created. */
  readonly target: number;
}

async function profileMails(
  client: Client,
  system: StartedSystem,
  { provider, settings, target }: ProfiledSend,
): Promise<MailCost> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tribina-profile-'));
  try {
    const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
    const sentBefore = await sentMails(client);
    await system.startWorker({ ...settings, EMAIL_RATE_PER_SECOND: String(DRAIN_RATE_PER_SECOND) }, flags);
    const first = await waitForMails(client, sentBefore + WARM_UP_MAILS, TIMEOUT_MS);
    const [from, before] = [monotonicMicros(), await system.readTimes(client, undefined)];
    const last = await waitForMails(client, target, TIMEOUT_MS);
    const [to, after] = [monotonicMicros(), await system.readTimes(client, undefined)];
    await system.stopWorker();
    const [file] = readdirSync(folder);
    const profile = JSON.parse(readFileSync(path.join(folder, file!), 'utf8')) as CpuProfile;
    const mails = last - first;
    const perMail = timesPerPiece(before, after, mails);
    return { provider, mails, perMail, worker: scaled(splitProfile(profile, MAIL_PARTS, from, to), perMail.worker) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Divides the worker's processor time for one mail by the shares of the profile, which counts the time on the wall. */
function scaled(split: ReadonlyMap<string, number>, micros: number): Record<string, number> {
  const busy = [...split].filter(([part]) => part !== 'waiting');
  const sum = busy.reduce((total, [, part]) => total + part, 0);
  return Object.fromEntries(busy.toSorted(([, a], [, b]) => b - a).map(([part, own]) => [part, (own * micros) / sum]));
}

const monotonicMicros = (): number => Number(process.hrtime.bigint() / 1000n);
