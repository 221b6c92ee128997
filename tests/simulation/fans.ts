import type { Task } from '#testing/simulation/scheduler';
import type { Reservation } from '../../apps/monolith/src/purchase/application/ports.ts';
import type { CheckedOut } from '../../apps/monolith/src/purchase/checkout/application/place-orders.ts';
import { tables } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import { Caller, MAX_ATTEMPTS, type Answer } from './caller.ts';
import type { PaymentSimulator } from './payment-simulator.ts';
import { HOLD_MS, MATCH_ID, type SimulatedSystem } from './replicas.ts';

/** A hold that a fan got. */
export interface Held {
  readonly id: string;
  readonly seatIds: readonly string[];
  readonly expiresAtMs: number;
}

interface Ordered {
  readonly orderId: string;
  readonly intentId: string;
  readonly isNew: boolean;
}

/** A simulated fan who holds seats, holds more, goes away, checks out, releases the hold, and pays early, late, twice or never. */
export class Fan extends Caller {
  constructor(
    system: SimulatedSystem,
    private readonly paymentSimulator: PaymentSimulator,
    userId: string,
    report: (fault: string) => void,
  ) {
    super(system, userId, report);
  }

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
    await this.goOn(await this.hold(sessionToken), sessionToken);
  }

  /** What the fan does with a hold. */
  protected async goOn(held: Answer<Held>, sessionToken: string | undefined): Promise<void> {
    const { random } = this.system.scheduler;
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
}
