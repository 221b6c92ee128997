import type { TcpProxy } from '#testing/tcp-proxy';
import { readHold, readOrder, type Fan, type Match, type Ordered } from '../fan.ts';
import type { Answer, Request } from '../history.ts';
import { Provider } from '../provider.ts';
import type { Replica } from '../replica.ts';
import type { Check, Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

/** Highest step at which a process is killed. A purchase sends about 40 messages to Redis, PostgreSQL and the provider. */
const MAX_STEPS = 120;
const SETTLE_TIMEOUT_MS = 60_000;

/** Whether the message of a step still reaches its receiver when the process is killed at this step. */
type KilledWhen = 'before the message is sent' | 'after the message is sent';

/** One fan's purchase from hold to payment. After an interruption it can be continued with the same keys. */
class Purchase {
  readonly fan: Fan;
  readonly #match: Match;
  readonly #provider: Provider;
  #holdRequest: Request | undefined;
  #checkoutRequest: Request | undefined;
  #order: Ordered | undefined;

  constructor(scene: Scene, match: Match, provider: Provider) {
    this.fan = scene.fan();
    this.#match = match;
    this.#provider = provider;
  }

  /**
   * Sends hold, checkout and payment event one after the other, and stops at the first that fails. A second call sends all of them
   * again, with the same idempotency keys. Resolves to true if all three have succeeded.
   */
  async advance(send: (request: Request) => Promise<Answer>, sendEvent: (order: Ordered) => Promise<boolean>): Promise<boolean> {
    this.#holdRequest ??= this.fan.holdRequest(this.#match);
    const hold = await send(this.#holdRequest);
    if (hold.status !== 201) return false;
    this.#checkoutRequest ??= this.fan.checkoutRequest(readHold(hold));
    const checkout = await send(this.#checkoutRequest);
    // Expect 201 (created), never 200: after every kill the repeated key still gets the answer of the request that created the order.
    if (checkout.status !== 201) return false;
    this.#order = readOrder(checkout);
    this.#provider.pay(this.#order);
    return sendEvent(this.#order);
  }

  async isComplete(): Promise<boolean> {
    return this.#order !== undefined && (await this.fan.isComplete(this.#order.orderId, Date.now() + 10_000));
  }
}

/**
 * Scenario F02: runs purchases one after the other and kills the process in each purchase: in the first before its first message, in the
 * second before its second message, and so on, until a purchase is complete. A kill before a message is also a kill after the answer to
 * the previous message, so all steps are covered. For messages with an effect, another purchase is killed after the message is sent and
 * before the process receives the answer.
 */
export function checkoutKilled(everyStep: number): Scenario {
  return {
    id: 'F02',
    title: everyStep === 1 ? 'kill -9 at every step of a purchase' : `kill -9 at every ${everyStep}th step of a purchase`,
    limitMs: 300_000,
    async run(scene, check) {
      const provider = await Provider.start(scene);
      const proxies = {
        psp: await scene.proxyTo(provider.url),
        database: await scene.proxyTo(scene.databaseUrl),
        redis: await scene.proxyTo(scene.redisUrl),
      };
      const start = (): Promise<Replica> =>
        scene.start(provider.settings(proxies.psp.url), { databaseUrl: proxies.database.url, redisUrl: proxies.redis.url });
      let replica = await start();
      const match = await scene.openSale(20);
      await scene.fan().hold(match);
      const purchases: Purchase[] = [];
      let [step, messages] = [1, [] as string[]];
      for (; step < MAX_STEPS; step += everyStep) {
        for (const killedWhen of ['before the message is sent', 'after the message is sent'] as const) {
          if (killedWhen !== 'before the message is sent' && !/COMMIT|hold-|POST/.test(messages[step - 1] ?? '')) continue;
          const purchase = new Purchase(scene, match, provider);
          const trap = new StepTrap(proxies, step, killedWhen, () => replica.kill());
          const isFinished = await purchase.advance(
            (request) => purchase.fan.sendOnce(request),
            (order) => provider.sendEvent(order),
          );
          messages = trap.disarm();
          purchases.push(purchase);
          if (trap.hasFired) replica = await start();
          else if (isFinished) {
            check(step > 20, `a purchase was complete after only ${step} steps: ${messages.join('; ')}`);
            step = MAX_STEPS;
            break;
          }
        }
      }
      return finishPurchases(scene, purchases, messages.length, provider, check);
    },
  };
}

/** Continues all interrupted purchases at the same time, each with its own idempotency keys, until each is complete. */
async function finishPurchases(scene: Scene, purchases: readonly Purchase[], steps: number, provider: Provider, check: Check) {
  const begunAt = Date.now();
  const results = await Promise.all(
    purchases.map(async (purchase) => {
      const isFinished = await purchase.advance(
        (request) => purchase.fan.sendUntilAnswered(request),
        (order) => provider.sendEventUntilAccepted(order, SETTLE_TIMEOUT_MS),
      );
      return isFinished && (await purchase.isComplete());
    }),
  );
  const survived = results.filter(Boolean).length;
  check(survived === purchases.length, `${purchases.length - survived} of ${purchases.length} purchases were never completed`);
  for (const fault of await provider.faults(scene.history.completed)) check(false, fault);
  return {
    steps,
    kills: purchases.length - 1,
    survived: `${survived}/${purchases.length}`,
    settled_after_s: Math.round((Date.now() - begunAt) / 100) / 10,
  };
}

/** Counts the messages of a purchase on all three proxies, and kills the process at the given step. */
class StepTrap {
  hasFired = false;
  readonly #proxies: Record<string, TcpProxy>;
  readonly #seen: string[] = [];

  constructor(proxies: Record<string, TcpProxy>, step: number, killedWhen: KilledWhen, kill: () => Promise<void>) {
    this.#proxies = proxies;
    for (const [name, proxy] of Object.entries(proxies)) {
      const whenSent = (bytes: Buffer, connection: object): boolean => {
        const text = textOf(bytes);
        if (this.hasFired || !belongsToPurchase(name, text, connection)) return false;
        this.#seen.push(`${name} ${text.slice(0, 80)}`);
        this.hasFired = this.#seen.length === step;
        return this.hasFired;
      };
      void proxy.setTrap({ whenSent, passOn: killedWhen !== 'before the message is sent', then: 'silence' }).then(kill);
    }
  }

  /** Removes the trap from the proxies. Returns the messages of the purchase so far. */
  disarm(): string[] {
    for (const proxy of Object.values(this.#proxies)) proxy.restore();
    return this.#seen;
  }
}

function textOf(bytes: Buffer): string {
  return bytes.toString('latin1').replaceAll(/[^\x20-\x7e]+/g, ' ');
}

/**
 * Database connections of the outbox relay, which are no part of a purchase. They are recognised by their READ COMMITTED
 * transactions. The other background traffic, polling and connection setup, is recognised by the text of each message.
 */
const relayConnections = new WeakSet<object>();

function belongsToPurchase(proxyName: string, text: string, connection: object): boolean {
  if (proxyName === 'redis') return text.includes('idempotency:');
  if (proxyName === 'psp') return text.includes('POST ');
  if (text.includes('READ COMMITTED')) relayConnections.add(connection);
  if (text.includes('SERIALIZABLE')) relayConnections.delete(connection);
  const isBackground =
    relayConnections.has(connection) || /START TRANSACTION|from outbox|application_name|SCRAM|^p |^X|pg_stat|outbox_/.test(text);
  return (
    !isBackground &&
    (/COMMIT|SERIALIZABLE|set_config|insert into|update |hold|from \(?(orders|reservations|idempotency_keys|seats|fan_seats)/.test(
      text,
    ) ||
      text.includes('count-fans'))
  );
}
