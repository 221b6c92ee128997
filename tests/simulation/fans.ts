import { DomainError } from '#domain/shared/domain-error';
import type { Task } from '#testing/simulation/scheduler';
import type { Reservation } from '../../apps/monolith/src/purchase/application/ports.ts';
import type { CheckedOut } from '../../apps/monolith/src/purchase/checkout/application/place-orders.ts';
import { tables } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import type { PaymentSimulator } from './payment-simulator.ts';
import { HOLD_MS, MATCH, type Replica, type Shop } from './replicas.ts';

interface Held {
  readonly id: string;
  readonly seatIds: readonly string[];
  readonly expiresAtMs: number;
}

interface Ordered {
  readonly orderId: string;
  readonly intentId: string;
  readonly isNew: boolean;
}

/** What a fan gets: an answer, or the code of a refusal. */
type Answer<T> = { readonly value: T } | { readonly refusal: string };

/** Refusals that stay what they are for this key; everything else may be sent again. */
const PASSING = new Set(['LOCK_TIMEOUT', 'SEATS_BUSY', 'PAYMENT_REFUSED']);
const MOST_RESENDS = 6;

/** One fan and what they do: hold, hold more, go away, check out, pay early, late, twice or never, change their mind. */
export class Fan {
  private sent = 0;

  constructor(
    private readonly shop: Shop,
    private readonly desk: PaymentSimulator,
    readonly userId: string,
    private readonly report: (fault: string) => void,
  ) {}

  async comeAndBuy(): Promise<void> {
    const { scheduler, match } = this.shop;
    const { random } = scheduler;
    await scheduler.sleep(random.pick([0, 0, 0, 1, random.int(HOLD_MS), HOLD_MS]));
    const turn = match.queueRequired ? this.turn() : undefined;
    const visits = random.pick(this.shop.style.visits);
    const tasks: Task[] = [];
    for (let visit = 1; visit <= visits; visit += 1) {
      const task = scheduler.spawn(`${this.userId}.${visit}`, undefined, () => this.buyOnce(turn));
      tasks.push(task);
      if (random.chance(this.shop.style.oneByOne)) await scheduler.finished(task);
    }
    for (const task of tasks) this.mustBeDone(await scheduler.finished(task));
  }

  private turn(): string {
    const { scheduler, waitingRoom } = this.shop;
    const sessionToken = `st-${this.userId}`;
    const expiresAtMs = scheduler.nowMs + scheduler.random.pick([HOLD_MS / 2, HOLD_MS, 3 * HOLD_MS]);
    const turn = { matchId: MATCH, userId: this.userId, sessionToken };
    waitingRoom.grant({ ...turn, expiresAtMs });
    const ends = scheduler.random.pick([expiresAtMs, scheduler.nowMs + scheduler.random.int(HOLD_MS)]);
    const reason = ends === expiresAtMs ? 'window_timeout' : 'left';
    scheduler.spawn(`turn of ${this.userId}`, undefined, async () => {
      await scheduler.sleepUntil(ends);
      waitingRoom.end({ ...turn, reason });
    });
    return sessionToken;
  }

  private async buyOnce(turn: string | undefined): Promise<void> {
    const { random } = this.shop.scheduler;
    const held = await this.hold(turn);
    if (!('value' in held)) return;
    const { value: hold } = held;
    if (random.chance(0.4)) await this.dawdle(hold);
    const course = random.int(10);
    if (course === 0) return;
    if (course === 1) return this.release(hold);
    const ordering = this.inBackground('pays', () => this.order(hold, turn));
    if (course <= 3) {
      await this.dawdle(hold);
      await this.release(hold);
    }
    this.mustBeDone(await this.shop.scheduler.finished(ordering));
  }

  private async order(hold: Held, turn: string | undefined): Promise<void> {
    const { random } = this.shop.scheduler;
    // The provider has the intent before we have said so: whoever is quick may have paid by then.
    // Where it refuses, nobody is that quick: an intent of an order that was removed is told to nobody.
    const quick =
      random.chance(0.15) && !this.shop.style.refuses
        ? this.inBackground('pays at once', () => this.desk.payWhenPossible(hold.id))
        : undefined;
    const ordered = await this.checkOut(hold);
    const more = random.chance(this.shop.style.greed)
      ? this.inBackground('wants more', () => this.wantMore(hold, turn))
      : undefined;
    if (quick) this.mustBeDone(await this.shop.scheduler.finished(quick));
    if ('value' in ordered && ordered.value.intentId !== 'none') {
      this.shop.toldIntents.add(ordered.value.intentId);
      await this.dawdle(hold);
      if (random.chance(this.shop.style.pays)) await this.desk.pay(ordered.value.intentId);
    }
    if (more) this.mustBeDone(await this.shop.scheduler.finished(more));
  }

  private async wantMore({ expiresAtMs }: Held, turn: string | undefined): Promise<void> {
    const { scheduler } = this.shop;
    const at = scheduler.random.pick([0, expiresAtMs, expiresAtMs, expiresAtMs]);
    if (at > scheduler.nowMs) await scheduler.sleepUntil(at);
    await this.hold(turn);
  }

  private async dawdle({ expiresAtMs }: Held): Promise<void> {
    const { scheduler, style } = this.shop;
    if (!scheduler.random.chance(style.lastMoment)) return;
    const until = expiresAtMs + scheduler.random.pick(style.backAt);
    if (until > scheduler.nowMs) await scheduler.sleepUntil(until);
  }

  private hold(turn: string | undefined): Promise<Answer<Held>> {
    const { scheduler, db } = this.shop;
    const { random } = scheduler;
    const wish = { matchId: MATCH, userId: this.userId, sessionToken: turn };
    const seats = db.rows(tables.seats, ({ sectorId }) => sectorId === 'east').map(({ id }) => id);
    const start = random.int(seats.length);
    const command = random.chance(0.5)
      ? { ...wish, seatIds: seats.slice(start, start + random.between(1, 2)) }
      : { ...wish, sectorId: random.pick(['east', 'east', 'south']), quantity: random.between(1, 2) };
    const render = ({ id, seats: own, expiresAt }: Reservation): Held => ({
      id,
      seatIds: own.map(({ seatId }) => seatId),
      expiresAtMs: expiresAt.getTime(),
    });
    return this.call('holds', (replica) => replica.holdSeats.execute(command), render);
  }

  /** Each hold is checked out under one key, so its answer is always the first one: 201, never 200. */
  private async checkOut({ id, seatIds }: Held): Promise<Answer<Ordered>> {
    const holders = seatIds.map((seatId) => ({ seatId, name: 'Ana' }));
    const command = { reservationId: id, userId: this.userId, holders, email: 'ana@example.hr' };
    const render = ({ order, isNew }: CheckedOut): Ordered => ({
      orderId: order.id,
      intentId: order.payment.intentId ?? 'none',
      isNew,
    });
    const answer = await this.call('checks out', (replica, key) => replica.checkOut.execute({ ...command, key }), render);
    if ('value' in answer && !answer.value.isNew)
      this.report(`I5: the key that made order ${answer.value.orderId} was answered as if another key had made it`);
    return answer;
  }

  /** No key: giving back twice is giving back. */
  private async release({ id }: Held): Promise<void> {
    const { scheduler } = this.shop;
    for (let attempt = 1; attempt <= MOST_RESENDS; attempt += 1) {
      const replica = this.shop.any();
      const command = { reservationId: id, userId: this.userId };
      const task = scheduler.spawn(`${this.userId} releases ${id}`, replica, () => replica.releaseReservation.execute(command));
      await scheduler.finished(task);
      if (task.state === 'done' || (task.state === 'failed' && this.refusalOf(task) !== 'LOCK_TIMEOUT')) return;
    }
  }

  /**
   * A request under a key of its own. Its process dies, or the fan is impatient: the same again, to any process, also while the
   * first is still under way. Every answer to it must be the same.
   */
  private async call<T, R>(
    what: string,
    work: (replica: Replica, key: string) => Promise<R>,
    render: (result: R) => T,
  ): Promise<Answer<T>> {
    const { scheduler } = this.shop;
    this.sent += 1;
    const key = `${this.userId}-k${this.sent}`;
    const answers = new Set<string>();
    const send = (): Task => {
      const replica = this.shop.any();
      const once = { key, userId: this.userId, render: render as (result: never) => unknown };
      return scheduler.spawn(`${this.userId} ${what} (${key})`, replica, () => this.shop.answer(once, () => work(replica, key)));
    };
    let last: Answer<T> = { refusal: 'no answer' };
    for (let attempt = 1; attempt <= MOST_RESENDS; attempt += 1) {
      const known = [...answers];
      const copies = scheduler.random.chance(0.15) ? [send(), send()] : [send()];
      for (const copy of copies) {
        await scheduler.finished(copy);
        if (copy.state === 'crashed') continue;
        last = copy.state === 'done' ? { value: copy.value as T } : { refusal: this.refusalOf(copy) };
        if ('value' in last) answers.add(JSON.stringify(last.value));
        else if (known.length > 0 && !PASSING.has(last.refusal))
          this.report(`I5: ${key} was answered ${known.join()}, then ${last.refusal}`);
        if ('value' in last && copies.length > 1) break;
      }
      if (answers.size > 1) this.report(`I5: ${key} was answered ${[...answers].join(' and ')}`);
      if ('value' in last ? !scheduler.random.chance(0.05) : last.refusal !== 'no answer' && !PASSING.has(last.refusal)) break;
      // The answer was lost on its way; they look again when they are back in the net.
      if ('value' in last && scheduler.random.chance(0.5)) await scheduler.sleep(scheduler.random.int(2 * HOLD_MS));
    }
    return last;
  }

  /** A refusal is a fan's business; anything else that goes wrong is ours. */
  private refusalOf({ error, name }: Task): string {
    if (error instanceof DomainError) return error.code;
    this.report(`I13: ${name}: ${String(error)}`);
    return 'INTERNAL_ERROR';
  }

  private inBackground(what: string, work: () => Promise<void>): Task {
    return this.shop.scheduler.spawn(`${this.userId} ${what}`, undefined, work);
  }

  private mustBeDone({ state, name, error }: Task): void {
    if (state !== 'done')
      this.report(`the simulation itself: ${name} ${state}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
