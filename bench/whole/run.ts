import type { Client } from 'pg';
import type { OwnServers } from '../instruments/own-servers.ts';
import { quantile } from '../instruments/quantiles.ts';
import { Buyers } from '../purchase/buyers.ts';
import { type Stadium, type Stadiums, withClient } from '../purchase/stadiums.ts';
import { faultsIn } from '../purchase/tables.ts';
import type { MailServer } from './mail-server.ts';
import { faultsOfMails, neededMails, sentMails, waitForMails } from './mails.ts';
import { type PartTimes, timesPerPiece } from './parts.ts';
import { StartedSystem, type WorkerMode } from './system.ts';
import { WaitingFans } from './waiting-fans.ts';

/** The rate limit of mails while the backlog is drained. */
export const DRAIN_RATE_PER_SECOND = 1000;
const DRAIN_TIMEOUT_MS = 180_000;
/** Mails that the worker sends before the drain is measured, so that V8 has compiled its code. */
const DRAIN_WARM_UP_MAILS = 500;
/** The drain is measured only if it has this many mails: with fewer its end and the readings' intervals would be most of it. */
const MIN_DRAINED_MAILS = 1000;

/** One run: some buyers with the worker in some mode. */
export interface WholeScenario {
  readonly mode: WorkerMode;
  readonly buyers: number;
}

/** What one run measured. */
export interface WholeRun extends WholeScenario {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Mails per second that were sent during the sale. */
  readonly mailsPerSecond: number;
  readonly refusals: Readonly<Record<string, number>>;
  /** Messages a second to all sockets of waiting fans. */
  readonly queueMessagesPerSecond: number;
  /** Processor time by part for one purchase. */
  readonly perPurchase: PartTimes;
  /** How the backlog was sent after the sale, without buyers. Undefined if there was almost no backlog. */
  readonly drain: Drain | undefined;
  readonly faults: readonly string[];
}

/** How a backlog of mails was sent while no sale ran. */
export interface Drain {
  readonly mails: number;
  readonly perSecond: number;
  /** Processor time by part for one mail. */
  readonly perMail: PartTimes;
}

/** The servers and the prepared matches that all runs share. */
export interface WholeSetup {
  readonly servers: OwnServers;
  readonly stadiums: Stadiums;
  readonly stadium: Stadium;
  readonly mailServer: MailServer;
}

/** Runs one scenario with a fresh copy of the stadium, an empty Redis and new processes. */
export async function runWhole(setup: WholeSetup, scenario: WholeScenario, seconds: number): Promise<WholeRun> {
  const { servers, stadiums, stadium, mailServer } = setup;
  const copy = await stadiums.copyOf(stadium);
  let buyers: Buyers | undefined;
  let system: StartedSystem | undefined;
  let waiting: WaitingFans | undefined;
  try {
    const started = await StartedSystem.start({ servers, mailServer, databaseUrl: copy.url }, scenario.mode);
    system = started;
    const addresses = { databaseUrl: copy.url, redisUrl: servers.redisUrl };
    const team = await Buyers.open({
      kind: 'purchases as a fan',
      address: { ...addresses, serviceUrl: started.monolith.url, callers: scenario.buyers },
      matches: stadium.matches,
      warmUpMatches: 1,
      processes: 1,
    });
    buyers = team;
    const line = await WaitingFans.open(started.queueUrl);
    waiting = line;
    const warmUp = await team.warmUp(seconds);
    return await withClient(copy.url, async (client) => {
      const messagesBefore = line.messages;
      const { sale, done } = await sell({ client, system: started, team, setup }, seconds);
      const queueMessagesPerSecond = (line.messages - messagesBefore) / seconds;
      const faultsOfLine = line.close();
      await team.close();
      const drain = await drainMails(client, started, scenario.mode);
      const faults = [
        ...faultsOfLine,
        ...(await faultsIn(addresses, { before: 0, bought: warmUp + done, whole: true })),
        ...(await faultsOfMails(client, scenario.mode === 'smtp' ? await mailServer.takeArrived() : undefined)),
      ];
      return { ...scenario, ...sale, queueMessagesPerSecond, drain, faults };
    });
  } finally {
    waiting?.close();
    await buyers?.close();
    await system?.stop();
    await copy.drop();
  }
}

interface Sale {
  readonly client: Client;
  readonly system: StartedSystem;
  readonly team: Buyers;
  readonly setup: WholeSetup;
}

async function sell({ client, system, team, setup }: Sale, seconds: number) {
  let [match, sold] = [1, 0];
  const { matches } = setup.stadium;
  const onProgress = (bought: number): void => {
    sold += bought;
    if (sold < (matches[match]?.quota ?? Infinity)) return;
    [match, sold] = [match + 1, 0];
    team.switchToMatch(match);
  };
  const [from, mailsBefore, before] = [performance.now(), await sentMails(client), await system.readTimes(client, team.pid)];
  const bought = await team.buy(seconds, onProgress);
  const [after, mailsAfter, to] = [await system.readTimes(client, team.pid), await sentMails(client), performance.now()];
  const latencies = bought.latenciesMs.toSorted();
  const sale = {
    perSecond: bought.doneInTime / bought.seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    mailsPerSecond: ((mailsAfter - mailsBefore) * 1000) / (to - from),
    refusals: bought.refusals,
    perPurchase: timesPerPiece(before, after, bought.done),
  };
  return { sale, done: bought.done };
}

/** Sends all remaining mails with a new worker that has a higher limit. */
async function drainMails(client: Client, system: StartedSystem, mode: WorkerMode): Promise<Drain | undefined> {
  const needed = await neededMails(client);
  await system.stopWorker();
  if (mode === 'paused') await system.setPaused(false);
  await system.startWorker({ EMAIL_RATE_PER_SECOND: String(DRAIN_RATE_PER_SECOND) });
  const from = await waitForMails(client, (await sentMails(client)) + DRAIN_WARM_UP_MAILS, DRAIN_TIMEOUT_MS / 10);
  const [startedAt, before] = [performance.now(), await system.readTimes(client, undefined)];
  const sent = await waitForMails(client, needed, DRAIN_TIMEOUT_MS);
  const [after, seconds] = [await system.readTimes(client, undefined), (performance.now() - startedAt) / 1000];
  const mails = sent - from;
  if (mails < MIN_DRAINED_MAILS) return undefined;
  return { mails, perSecond: mails / seconds, perMail: timesPerPiece(before, after, mails) };
}
