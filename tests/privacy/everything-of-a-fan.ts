import { randomUUID } from 'node:crypto';
import { createMatch, eventually, send } from '../following/purchase.ts';
import type { LoggedSystem } from '../following/system.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

const OPERATOR = '0190a000-0000-7000-8000-0000000000aa';
const OPS = { 'x-mock-roles': 'ops' };
const HOUR_MS = 3_600_000;

/** A fan who did everything that a fan can do, and what must be found nowhere after the fan is erased. */
export interface BusyFan {
  readonly id: string;
  readonly matchIds: readonly string[];
  /** What each secret is, and its text. */
  readonly personal: Readonly<Record<string, string>>;
}

/** Makes the calls of one fan, and of the operators and fans around. */
export class FanLife {
  readonly id = randomUUID();
  private readonly mark = this.id.slice(0, 8);
  readonly email = `zrinka.${this.mark}@example.hr`;
  readonly name = `Zrinka Privremena-${'abcdefgh'.replaceAll(/./g, (_, at: number) => String.fromCodePoint(97 + Number.parseInt(this.mark[at] ?? '0', 16)))}`;
  readonly token = `push-token-${this.id}`;

  constructor(private readonly system: LoggedSystem) {}

  async live(): Promise<BusyFan> {
    const { system } = this;
    await this.call('PUT', '/me', { email: this.email, name: this.name, locale: 'hr' });
    await this.call('PUT', '/me/devices/phone', { fcm_token: this.token });
    const open = { opens_at: new Date(Date.now() - HOUR_MS).toISOString() };
    const sectors = [{ name: 'A', kind: 'seated', price_cents: 2500, rows: 5, seats_per_row: 10 }];
    const queued = (await createMatch(system, { ...open, queue_required: true, sectors })) as Json;
    const direct = (await createMatch(system, { ...open, queue_required: false, sectors })) as Json;
    const waited = (await createMatch(system, {
      ...open,
      queue_required: true,
      sectors,
      max_open_windows: 1,
      processing_rate: 1,
    })) as Json;

    const turn = await this.turn(queued.id);
    const bought = await this.buy(queued, { 'x-purchase-session': turn.session_token });
    await this.call('DELETE', `/reservations/${(await this.hold(direct)).id}`);
    await this.hold(direct);
    const waiting = await this.wait(waited.id);
    await this.offers(direct, bought.tickets[0]);
    const clientSecret = bought.order.payment.client_secret;
    await this.claim(direct);
    await this.othersLoadEvents(bought);
    await this.operatorLooks(bought.orderId);
    await eventually(() => system.grep(bought.orderId).filter(({ msg }) => msg === 'email sent').length === 2);
    return {
      id: this.id,
      matchIds: [queued.id, direct.id, waited.id],
      personal: {
        'e-mail address': this.email,
        name: this.name,
        'push token': this.token,
        'session token': turn.session_token,
        'queue token of the turn': turn.queue_token,
        'queue token of the wait': waiting.queue_token,
        'payment secret': clientSecret,
        'ticket code': bought.tickets[0].code,
      },
    };
  }

  call(method: string, path: string, body?: Json, headers: Record<string, string> = {}, as = this.id): Promise<Json> {
    return send(method, path.startsWith('http') ? path : `${this.system.url}${path}`, as, body, headers);
  }

  private ops(method: string, path: string, body?: Json): Promise<Json> {
    return this.call(method, path, body, OPS, OPERATOR);
  }

  private async turn(matchId: string): Promise<Json> {
    let place: Json;
    for (let tries = 0; tries < 100 && place?.status !== 'granted'; tries += 1) {
      place = await this.call('POST', `${this.system.queueUrl}/queue/${matchId}/join`).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    if (place?.status !== 'granted') throw new Error('no turn was granted');
    return place;
  }

  private async wait(matchId: string): Promise<Json> {
    // The first fan gets the only turn, the second one waits.
    const first = new FanLife(this.system);
    await first.turn(matchId);
    return this.call('POST', `${this.system.queueUrl}/queue/${matchId}/join`);
  }

  private hold(match: Json, headers: Record<string, string> = {}): Promise<Json> {
    return this.call('POST', `/matches/${match.id}/reservations`, { sector_id: match.sectors[0].id, quantity: 1 }, headers);
  }

  private async buy(match: Json, headers: Record<string, string> = {}): Promise<Json> {
    const held = await this.hold(match, headers);
    const holders = held.seats.map(({ seat_id }: Json) => ({ seat_id, name: this.name }));
    const order = await this.call('POST', `/reservations/${held.id}/checkout`, { holders, email: this.email });
    await this.call('POST', order.payment.confirm_url, { outcome: 'succeeded' });
    for (let tries = 0; tries < 100; tries += 1) {
      const tickets = (await this.call('GET', '/tickets')).items.filter(({ order_id }: Json) => order_id === order.order_id);
      if (tickets.length > 0) return { order, orderId: order.order_id, tickets };
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('the order was not completed');
  }

  /** Offers a ticket and takes the offer back; gets one by address and leaves it open; gets one and declines it. */
  private async offers(match: Json, ticket: Json): Promise<void> {
    const made = await this.call('POST', `/tickets/${ticket.id}/transfer`, {
      to_email: 'friend@example.hr',
      holder_name: this.name,
    });
    await this.call('DELETE', `/transfers/${made.id}`);
    const giver = new FanLife(this.system);
    await giver.call('PUT', '/me', { email: giver.email, name: giver.name, locale: 'hr' });
    const bought = await giver.buy(match);
    const offer = () =>
      giver.call('POST', `/tickets/${bought.tickets[0].id}/transfer`, { to_email: this.email, holder_name: this.name });
    await this.call('POST', `/transfers/${(await offer()).id}/decline`);
    await offer();
  }

  private async claim(match: Json): Promise<void> {
    const quota = await this.ops('POST', `/ops/matches/${match.id}/quotas`, {
      name: 'Fan club',
      kind: 'fan_group',
      places: [{ sector_id: match.sectors[0].id, quantity: 2 }],
      price_cents: { [match.sectors[0].id]: 0 },
    });
    const answer = await this.ops('POST', `/quotas/${quota.id}/invitations`, {
      list_key: 'members',
      invitations: [{ email: this.email, name: this.name, quantity: 1, note: `member ${this.name}` }],
    });
    const id = answer.items[0].id;
    const mails = async (): Promise<string[]> => {
      const rows = await this.system.rows<{ text: string }>(
        `select text from mailbox_messages where template = 'quota_invitation' and recipient = $1`,
        [this.email],
      );
      return rows.map(({ text }) => /#(inv_\S+)/.exec(text)?.[1] ?? '');
    };
    let token: string | undefined;
    for (let tries = 0; tries < 100 && !token; tries += 1) {
      [token] = await mails();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    if (!id || !token) throw new Error('there is no invitation');
    await this.call('POST', '/invitations/claim', { token });
  }

  /** A partner's gate and payment provider tell us about the fan, and one event is malformed. */
  private async othersLoadEvents(bought: Json): Promise<void> {
    const events = [
      { id: '1', payload: { code: bought.tickets[0].code, gate: 'B', admitted: true } },
      { id: '2', payload: { object: { customer: { email: this.email.toUpperCase() }, order: bought.orderId } } },
      { id: '3', payload: { data: { object: { id: bought.order.payment.intent_id } } } },
      { id: '4', payload: { code: 'TRB1.somebody-else', email: 'other@example.hr' } },
    ];
    for (const { id, payload } of events)
      await this.system.rows(`insert into loaded_events (source, event_id, payload) values ('partner', $1, $2)`, [
        id,
        JSON.stringify(payload),
      ]);
    await this.system.rows(
      `insert into quarantined_events (source, event_id, code, digest, detail, content) values ('partner', 'x', 'BAD', 'd', 'bad', $1)`,
      [`{"email": "${this.email}"`],
    );
  }

  private async operatorLooks(orderId: string): Promise<void> {
    const found = await this.ops('GET', `/ops/orders?q=${encodeURIComponent(this.email)}`);
    if (!found.items.some(({ id }: Json) => id === orderId)) throw new Error('the operator does not find the order');
  }
}
