import { DomainError } from '#domain/shared/domain-error';
import type { Task } from '#testing/simulation/scheduler';
import type { Reservation } from '../../apps/monolith/src/purchase/application/ports.ts';
import type { CheckedOut } from '../../apps/monolith/src/purchase/checkout/application/place-orders.ts';
import { tables } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import type { PaymentSimulator } from './payment-simulator.ts';
import { HOLD_MS, MATCH_ID, type Replica, type SimulatedSystem } from './replicas.ts';

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

/** The answer to a request of a fan: a value, or the code of a refusal. */
type Answer<T> = { readonly value: T } | { readonly refusal: string };

/** Codes of temporary refusals: the same idempotency key may get another answer later. All other answers to a key are final. */
const TEMPORARY_REFUSALS = new Set(['LOCK_TIMEOUT', 'SEATS_BUSY', 'PAYMENT_REFUSED']);
const MAX_ATTEMPTS = 6;

/** A simulated fan who holds seats, holds more, goes away, checks out, releases the hold, and pays early, late, twice or never. */
export class Fan {
  private sent = 0;

  constructor(
    private readonly system: SimulatedSystem,
    private readonly paymentSimulator: PaymentSimulator,
    readonly userId: string,
    private readonly report: (fault: string) => void,
  ) {}

  async run(): Promise<void> {
    const { scheduler, match } = this.system;
    const { random } = scheduler;
    await scheduler.sleep(random.pick([0, 0, 0, 1, random.int(HOLD_MS), HOLD_MS]));
    const sessionToken = match.queueRequired ? this.startTurn() : undefined;
    const visits = random.pick(this.system.style.visitCounts);
    const tasks: Task[] = [];
    for (let visit = 1; visit <= visits; visit += 1) {
      const task = scheduler.spawn(`${this.userId}.${visit}`, undefined, () => this.buyOnce(sessionToken));
      tasks.push(task);
      if (random.chance(this.system.style.waitsForPreviousVisit)) await scheduler.finished(task);
    }
    for (const task of tasks) this.expectDone(await scheduler.finished(task));
  }

  /** Grants the fan a turn that ends by timeout or because the fan leaves. Returns its session token. */
  private startTurn(): string {
    const { scheduler, waitingRoom } = this.system;
    const sessionToken = `st-${this.userId}`;
    const expiresAtMs = scheduler.nowMs + scheduler.random.pick([HOLD_MS / 2, HOLD_MS, 3 * HOLD_MS]);
    const turn = { matchId: MATCH_ID, userId: this.userId, sessionToken };
    waitingRoom.grant({ ...turn, expiresAtMs });
    const endsAtMs = scheduler.random.pick([expiresAtMs, scheduler.nowMs + scheduler.random.int(HOLD_MS)]);
    const reason = endsAtMs === expiresAtMs ? 'window_timeout' : 'left';
    scheduler.spawn(`turn of ${this.userId}`, undefined, async () => {
      await scheduler.sleepUntil(endsAtMs);
      waitingRoom.end({ ...turn, reason });
    });
    return sessionToken;
  }

  private async buyOnce(sessionToken: string | undefined): Promise<void> {
    const { random } = this.system.scheduler;
    const held = await this.hold(sessionToken);
    if (!('value' in held)) return;
    const { value: hold } = held;
    if (random.chance(0.4)) await this.waitForLastMoment(hold);
    const choice = random.int(10);
    if (choice === 0) return;
    if (choice === 1) return this.release(hold);
    const ordering = this.inBackground('pays', () => this.order(hold, sessionToken));
    if (choice <= 3) {
      await this.waitForLastMoment(hold);
      await this.release(hold);
    }
    this.expectDone(await this.system.scheduler.finished(ordering));
  }

  private async order(hold: Held, sessionToken: string | undefined): Promise<void> {
    const { random } = this.system.scheduler;
    // The provider knows the payment intent before our answer reaches the fan, so a payment may arrive before the answer. In a
    // style in which the provider refuses intents, fans do not pay early: the service may still remove the order, and then no
    // answer tells a fan the intent, so no fan could pay it.
    const earlyPayment =
      random.chance(0.15) && !this.system.style.refuses
        ? this.inBackground('pays at once', () => this.paymentSimulator.payWhenPossible(hold.id))
        : undefined;
    const ordered = await this.checkOut(hold);
    const secondHold = random.chance(this.system.style.holdsMore)
      ? this.inBackground('wants more', () => this.holdMore(hold, sessionToken))
      : undefined;
    if (earlyPayment) this.expectDone(await this.system.scheduler.finished(earlyPayment));
    if ('value' in ordered && ordered.value.intentId !== 'none') {
      this.system.intentsKnownToFans.add(ordered.value.intentId);
      await this.waitForLastMoment(hold);
      if (random.chance(this.system.style.pays)) await this.paymentSimulator.pay(ordered.value.intentId);
    }
    if (secondHold) this.expectDone(await this.system.scheduler.finished(secondHold));
  }

  /** Holds more seats now or exactly when the first hold expires. */
  private async holdMore({ expiresAtMs }: Held, sessionToken: string | undefined): Promise<void> {
    const { scheduler } = this.system;
    const at = scheduler.random.pick([0, expiresAtMs, expiresAtMs, expiresAtMs]);
    if (at > scheduler.nowMs) await scheduler.sleepUntil(at);
    await this.hold(sessionToken);
  }

  /** Sometimes sleeps until about the expiry of the hold. */
  private async waitForLastMoment({ expiresAtMs }: Held): Promise<void> {
    const { scheduler, style } = this.system;
    if (!scheduler.random.chance(style.lastMoment)) return;
    const wakeAtMs = expiresAtMs + scheduler.random.pick(style.returnOffsetsMs);
    if (wakeAtMs > scheduler.nowMs) await scheduler.sleepUntil(wakeAtMs);
  }

  private hold(sessionToken: string | undefined): Promise<Answer<Held>> {
    const { scheduler, db } = this.system;
    const { random } = scheduler;
    const common = { matchId: MATCH_ID, userId: this.userId, sessionToken };
    const seats = db.rows(tables.seats, ({ sectorId }) => sectorId === 'east').map(({ id }) => id);
    const start = random.int(seats.length);
    const command = random.chance(0.5)
      ? { ...common, seatIds: seats.slice(start, start + random.between(1, 2)) }
      : { ...common, sectorId: random.pick(['east', 'east', 'south']), quantity: random.between(1, 2) };
    const render = ({ id, seats: heldSeats, expiresAt }: Reservation): Held => ({
      id,
      seatIds: heldSeats.map(({ seatId }) => seatId),
      expiresAtMs: expiresAt.getTime(),
    });
    return this.call('holds', (replica) => replica.holdSeats.execute(command), render);
  }

  /** Checks out a hold, always with one idempotency key, so the answer must say that this key created the order (201, never 200). */
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
      this.report(`I5: the key that made order ${answer.value.orderId} was answered as if another key had created it`);
    return answer;
  }

  /** Releases the hold. It needs no idempotency key: a second release changes nothing. */
  private async release({ id }: Held): Promise<void> {
    const { scheduler } = this.system;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const replica = this.system.anyReplica();
      const command = { reservationId: id, userId: this.userId };
      const task = scheduler.spawn(`${this.userId} releases ${id}`, replica, () => replica.releaseReservation.execute(command));
      await scheduler.finished(task);
      if (task.state === 'done' || (task.state === 'failed' && this.refusalOf(task) !== 'LOCK_TIMEOUT')) return;
    }
  }

  /**
   * Sends a request with a new idempotency key. If its process dies, or at random, the fan sends the request again to any process, even
   * while the first copy is still running. All answers must be equal.
   */
  private async call<T, R>(
    action: string,
    work: (replica: Replica, key: string) => Promise<R>,
    render: (result: R) => T,
  ): Promise<Answer<T>> {
    const { scheduler } = this.system;
    this.sent += 1;
    const key = `${this.userId}-k${this.sent}`;
    const answers = new Set<string>();
    const send = (): Task => {
      const replica = this.system.anyReplica();
      const currentKey = { key, userId: this.userId, render: render as (result: never) => unknown };
      return scheduler.spawn(`${this.userId} ${action} (${key})`, replica, () =>
        this.system.answer(currentKey, () => work(replica, key)),
      );
    };
    let last: Answer<T> = { refusal: 'no answer' };
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const earlierAnswers = [...answers];
      const copies = scheduler.random.chance(0.15) ? [send(), send()] : [send()];
      for (const copy of copies) {
        await scheduler.finished(copy);
        if (copy.state === 'crashed') continue;
        last = copy.state === 'done' ? { value: copy.value as T } : { refusal: this.refusalOf(copy) };
        if ('value' in last) answers.add(JSON.stringify(last.value));
        else if (earlierAnswers.length > 0 && !TEMPORARY_REFUSALS.has(last.refusal))
          this.report(`I5: ${key} was answered ${earlierAnswers.join()}, then ${last.refusal}`);
        if ('value' in last && copies.length > 1) break;
      }
      if (answers.size > 1) this.report(`I5: ${key} was answered ${[...answers].join(' and ')}`);
      if (
        'value' in last ? !scheduler.random.chance(0.05) : last.refusal !== 'no answer' && !TEMPORARY_REFUSALS.has(last.refusal)
      )
        break;
      // The answer was lost. The fan sends the request again, sometimes only after a pause without a network.
      if ('value' in last && scheduler.random.chance(0.5)) await scheduler.sleep(scheduler.random.int(2 * HOLD_MS));
    }
    return last;
  }

  /** The code of a refusal. Any other error is a fault of the simulated system and is reported. */
  private refusalOf({ error, name }: Task): string {
    if (error instanceof DomainError) return error.code;
    this.report(`I13: ${name}: ${String(error)}`);
    return 'INTERNAL_ERROR';
  }

  private inBackground(action: string, work: () => Promise<void>): Task {
    return this.system.scheduler.spawn(`${this.userId} ${action}`, undefined, work);
  }

  private expectDone({ state, name, error }: Task): void {
    if (state !== 'done')
      this.report(`fault in the simulation: ${name} ${state}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
