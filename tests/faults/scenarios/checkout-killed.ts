import type { TcpProxy } from '#testing/tcp-proxy';
import { heldIn, orderedIn, type Fan, type Match, type Ordered } from '../fan.ts';
import type { Answer, Request } from '../history.ts';
import { Provider } from '../provider.ts';
import type { Replica } from '../replica.ts';
import type { Scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';

/** A purchase sends some 40 messages: to Redis, PostgreSQL and the provider. */
const MOST_STEPS = 120;
const SETTLE_MS = 60_000;

/** What becomes of a message when the process that sent it is killed. */
type Fate = 'never sent' | 'sent, and the answer unheard';

/** One fan's way from a free seat to a ticket, which may be taken up again wherever it broke off. */
class Purchase {
  readonly fan: Fan;
  readonly #match: Match;
  readonly #provider: Provider;
  #holding: Request | undefined;
  #checkingOut: Request | undefined;
  #order: Ordered | undefined;

  constructor(scene: Scene, match: Match, provider: Provider) {
    this.fan = scene.fan();
    this.#match = match;
    this.#provider = provider;
  }

  /** True when the provider has been told that its news was taken note of. */
  async goOn(ask: (request: Request) => Promise<Answer>, tell: (order: Ordered) => Promise<boolean>): Promise<boolean> {
    this.#holding ??= this.fan.holding(this.#match);
    const hold = await ask(this.#holding);
    if (hold.status !== 201) return false;
    this.#checkingOut ??= this.fan.checkingOut(heldIn(hold));
    const checkout = await ask(this.#checkingOut);
    // Never 200: wherever the process died, it is the key that made the order.
    if (checkout.status !== 201) return false;
    this.#order = orderedIn(checkout);
    this.#provider.pay(this.#order);
    return tell(this.#order);
  }

  async isComplete(): Promise<boolean> {
    return this.#order !== undefined && (await this.fan.isComplete(this.#order.orderId, Date.now() + 10_000));
  }
}

/**
 * F02: one purchase after the other, and each time the process is killed at the next message it sends: before the first one
 * leaves, before the second, … until one purchase comes through. Killed before a message is killed after the answer to the
 * one before, so these are all the steps there are; for those that have an effect also between its effect and its answer.
 */
export function checkoutKilled(everyStep: number): Scenario {
  return {
    id: 'F02',
    title: everyStep === 1 ? 'kill -9 at every step of a purchase' : `kill -9 at every ${everyStep}th step of a purchase`,
    limitMs: 300_000,
    async play(scene, claim) {
      const provider = await Provider.start(scene);
      const proxies = {
        psp: await scene.proxyTo(provider.url),
        database: await scene.proxyTo(scene.databaseUrl),
        redis: await scene.proxyTo(scene.redisUrl),
      };
      const start = (): Promise<Replica> =>
        scene.start(provider.settings(proxies.psp.url), { databaseUrl: proxies.database.url, redisUrl: proxies.redis.url });
      let replica = await start();
      const match = await scene.onSale(20);
      await scene.fan().hold(match);
      const broken: Purchase[] = [];
      let [step, messages] = [1, [] as string[]];
      for (; step < MOST_STEPS; step += everyStep) {
        for (const fate of ['never sent', 'sent, and the answer unheard'] as const) {
          if (fate !== 'never sent' && !/COMMIT|hold-|POST/.test(messages[step - 1] ?? '')) continue;
          const purchase = new Purchase(scene, match, provider);
          const trap = new StepTrap(proxies, step, fate, () => replica.kill());
          const isThrough = await purchase.goOn(
            (request) => purchase.fan.ask(request),
            (order) => provider.tell(order),
          );
          messages = trap.disarm();
          broken.push(purchase);
          if (trap.hasSprung) replica = await start();
          else if (isThrough) {
            claim(step > 20, `a purchase came through after ${step} steps: ${messages.join('; ')}`);
            step = MOST_STEPS;
            break;
          }
        }
      }
      return settle(scene, broken, messages.length, provider, claim);
    },
  };
}

/** Everybody asks again with their own keys, all at once, until each is through. */
async function settle(
  scene: Scene,
  broken: readonly Purchase[],
  steps: number,
  provider: Provider,
  claim: (is: boolean, otherwise: string) => void,
) {
  const begunAt = Date.now();
  const settled = await Promise.all(
    broken.map(async (purchase) => {
      const isThrough = await purchase.goOn(
        (request) => purchase.fan.insist(request),
        (order) => provider.insist(order, SETTLE_MS),
      );
      return isThrough && (await purchase.isComplete());
    }),
  );
  const survived = settled.filter(Boolean).length;
  claim(survived === broken.length, `${broken.length - survived} of ${broken.length} purchases never came to their end`);
  for (const fault of await provider.faults(scene.history.completed)) claim(false, fault);
  return {
    steps,
    kills: broken.length - 1,
    survived: `${survived}/${broken.length}`,
    settled_after_s: Math.round((Date.now() - begunAt) / 100) / 10,
  };
}

/** Counts the messages of a purchase over all three networks and springs at one of them. */
class StepTrap {
  hasSprung = false;
  readonly #proxies: Record<string, TcpProxy>;
  readonly #seen: string[] = [];

  constructor(proxies: Record<string, TcpProxy>, step: number, fate: Fate, spring: () => Promise<void>) {
    this.#proxies = proxies;
    for (const [name, proxy] of Object.entries(proxies)) {
      const whenSent = (bytes: Buffer, connection: object): boolean => {
        const text = textOf(bytes);
        if (this.hasSprung || !isOfPurchase(name, text, connection)) return false;
        this.#seen.push(`${name} ${text.slice(0, 80)}`);
        this.hasSprung = this.#seen.length === step;
        return this.hasSprung;
      };
      void proxy.setTrap({ whenSent, passOn: fate !== 'never sent', then: 'silence' }).then(spring);
    }
  }

  /** What was seen of the purchase, message by message. */
  disarm(): string[] {
    for (const proxy of Object.values(this.#proxies)) proxy.restore();
    return this.#seen;
  }
}

function textOf(bytes: Buffer): string {
  return bytes.toString('latin1').replaceAll(/[^\x20-\x7e]+/g, ' ');
}

/** The relays' transactions are READ COMMITTED; everything else in the background is a look or a greeting. */
const relays = new WeakSet<object>();

function isOfPurchase(network: string, text: string, connection: object): boolean {
  if (network === 'redis') return text.includes('idempotency:');
  if (network === 'psp') return text.includes('POST ');
  if (text.includes('READ COMMITTED')) relays.add(connection);
  if (text.includes('SERIALIZABLE')) relays.delete(connection);
  const isBackground =
    relays.has(connection) || /START TRANSACTION|from outbox|application_name|SCRAM|^p |^X|pg_stat|outbox_/.test(text);
  return (
    !isBackground &&
    (/COMMIT|SERIALIZABLE|set_config|insert into|update |hold|from \(?(orders|reservations|idempotency_keys|seats|fan_seats)/.test(
      text,
    ) ||
      text.includes('count-fans'))
  );
}
