import { randomUUID } from 'node:crypto';
import type { NewInvitation } from '../invitations/postgres-invitations.ts';
import type { Quota } from '../tree/quota.ts';
import type { QuotaStores } from './quota-stores-setup.ts';

const HOUR_MS = 3_600_000;
/** In the past and in the future of every clock that runs these tests. */
const [LONG_AGO, PAST, FUTURE] = [Date.UTC(2000, 0, 1), Date.UTC(2000, 0, 2), Date.UTC(2100, 0, 1)].map((at) => new Date(at));

/** The tests that `Quotas`, `Moves`, `Invitations` and `Claims` must pass. */
export function quotaStoresContract(open: () => QuotaStores): void {
  const check = (name: string, body: (stores: QuotaStores) => Promise<void>): void =>
    test(name, async () => {
      const stores = open();
      await stores.purchase.play(() => body(stores));
    });

  const addQuota = ({ purchase, quotas }: QuotaStores, given: Partial<Quota> & Pick<Quota, 'matchId'>): Promise<Quota> => {
    const settings = {
      name: 'Torcida',
      members: [],
      contactEmail: null,
      onReturn: 'public',
      neverTo: [],
      priceCents: {},
    } as const;
    const deadlines = { opensAt: null, claimUntil: null, returnAt: null };
    const facts = { parentId: null, depth: 1, kind: 'fan_group', maxPerInvitation: 4, ...settings, ...deadlines } as const;
    return purchase.inTransaction((tx) => quotas.add(tx, { ...facts, ...given }));
  };
  const idsOf = (found: readonly { readonly id: string }[]): string[] => found.map(({ id }) => id);

  describe('quotas', () => {
    check('a chain is the quota and its ancestors, the root last, in and outside of a transaction', async (s) => {
      const matchId = await s.purchase.addMatch();
      const member = randomUUID();
      const root = await addQuota(s, { matchId, members: [member], claimUntil: FUTURE!, priceCents: { east: 0 } });
      const child = await addQuota(s, { matchId, parentId: root.id, depth: 2, neverTo: ['club'] });
      expect(root).toMatchObject({ status: 'open', returnedAt: null, claimUntil: FUTURE, priceCents: { east: 0 } });
      const chain = [child, root];
      expect(await s.quotas.currentChain(child.id)).toEqual(chain);
      expect(await s.purchase.inTransaction((tx) => s.quotas.chain(tx, child.id))).toEqual(chain);
      expect(await s.purchase.inTransaction((tx) => s.quotas.lock(tx, child.id))).toEqual(child);
      expect(await s.purchase.inTransaction((tx) => s.quotas.lock(tx, randomUUID()))).toBeUndefined();
      expect([await s.quotas.ofMember(child.id, undefined), await s.quotas.ofMember(child.id, member)]).toEqual([child, child]);
      expect(await s.quotas.ofMember(child.id, randomUUID())).toBeUndefined();
    });

    check('due are open quotas after their return_at, children before their parents, and each is returned once', async (s) => {
      const matchId = await s.purchase.addMatch();
      const root = await addQuota(s, { matchId, returnAt: PAST! });
      const child = await addQuota(s, { matchId, returnAt: PAST!, parentId: root.id, depth: 2 });
      const first = await addQuota(s, { matchId, returnAt: LONG_AGO!, onReturn: 'keep' });
      const later = await addQuota(s, { matchId, returnAt: FUTURE! });
      expect(idsOf(await s.quotas.due(10))).toEqual([first.id, child.id, root.id]);
      expect(await s.quotas.due(1)).toEqual([{ id: first.id, matchId }]);
      const takeBack = (id: string) =>
        s.purchase.inTransaction(async (tx) => {
          const quota = await s.quotas.lockDue(tx, id);
          if (quota) await s.quotas.markReturned(tx, id);
          return quota?.id;
        });
      expect([await takeBack(later.id), await takeBack(first.id), await takeBack(first.id)]).toEqual([
        undefined,
        first.id,
        undefined,
      ]);
      await takeBack(root.id);
      await takeBack(child.id);
      expect(idsOf(await s.quotas.returned())).toEqual([child.id, root.id]);
      const lockReturned = (id: string) => s.purchase.inTransaction((tx) => s.quotas.lockReturned(tx, id));
      expect([await lockReturned(later.id), (await lockReturned(root.id))?.status]).toEqual([undefined, 'returned']);
    });

    check('while a quota is locked, or another one is being returned, a return skips it', async (s) => {
      const matchId = await s.purchase.addMatch();
      const [one, two] = [await addQuota(s, { matchId, returnAt: PAST! }), await addQuota(s, { matchId, returnAt: PAST! })];
      const lockDue = (id: string) => s.purchase.inTransaction((tx) => s.quotas.lockDue(tx, id));
      await s.purchase.inTransaction(async (tx) => {
        await s.quotas.lock(tx, one.id);
        expect(await lockDue(one.id)).toBeUndefined();
        expect((await lockDue(two.id))?.id).toBe(two.id);
      });
      await s.purchase.inTransaction(async (tx) => {
        await s.quotas.lockDue(tx, one.id);
        expect(await lockDue(two.id)).toBeUndefined();
      });
    });
  });

  describe('moves', () => {
    check('a move is added with its places, and an approved one with the id of its request', async (s) => {
      const matchId = await s.purchase.addMatch();
      const [from, to] = [await s.purchase.addQuota(matchId), await s.purchase.addQuota(matchId)];
      const seatIds = [randomUUID(), randomUUID()];
      const facts = { matchId, from, to, seatIds, reason: 'r', actor: 'a' };
      const request = await s.purchase.inTransaction((tx) => s.moves.addRequest(tx, { ...facts, rule: 'never_to' }));
      expect(request).toMatchObject({ ...facts, status: 'pending', rule: 'never_to', decidedBy: null });
      expect(request.expiresAt.getTime() - request.at.getTime()).toBe(24 * HOUR_MS);
      const row = await s.purchase.inTransaction(async (tx) => {
        expect((await s.moves.lockRequest(tx, request.id))?.status).toBe('pending');
        await s.moves.decide(tx, request.id, { status: 'approved', by: 'b' });
        return s.moves.add(tx, { ...facts, id: request.id, kind: 'move', approvedBy: 'b' });
      });
      expect(row).toMatchObject({ id: request.id, from, to, quantity: 2, approvedBy: 'b', kind: 'move' });
      const decided = await s.purchase.inTransaction((tx) => s.moves.lockRequest(tx, request.id));
      expect(decided).toMatchObject({ status: 'approved', decidedBy: 'b', seatIds });
      expect(await s.moves.hasExpired()).toBe(false);
      expect(await s.purchase.inTransaction((tx) => s.moves.lockExpired(tx, 10))).toEqual([]);
    });
  });

  describe('invitations and claims', () => {
    const invite = async (
      s: QuotaStores,
      given: { listKey?: string; expiresAt?: Date; isCancelled?: boolean; emails?: string[] } = {},
    ) => {
      const { listKey = null, expiresAt = FUTURE!, isCancelled = false, emails = ['ana@example.hr'] } = given;
      const matchId = await s.purchase.addMatch(isCancelled ? { isCancelled, saleStatus: 'closed' } : {});
      const quota = await addQuota(s, { matchId, opensAt: PAST!, returnAt: FUTURE! });
      const ids = s.invitations.newIds(emails.length);
      const sectorId = randomUUID();
      const invitations = emails.map((email, index): NewInvitation => {
        const seatIds = [randomUUID(), randomUUID()];
        return { id: ids[index] ?? '', email, name: null, userId: null, locale: 'hr', sectorId, seatIds, note: null };
      });
      const facts = { matchId, quotaId: quota.id, listKey, expiresAt, givenEnd: null, actor: 'a' };
      const add = () => s.purchase.inTransaction((tx) => s.invitations.add(tx, facts, invitations));
      const added = await add();
      const token = `inv_${randomUUID()}`;
      await s.purchase.inTransaction((tx) => s.invitations.addTokens(tx, new Map([[ids[0] ?? '', token]])));
      return { quota, matchId, ids, id: ids[0] ?? '', token, added, add, invitations, facts };
    };
    const lock = (s: QuotaStores, id: string) => s.purchase.inTransaction((tx) => s.invitations.lock(tx, id));

    check('the same list invites an address once, in upper and lower case', async (s) => {
      const list = await invite(s, { listKey: 'one', emails: ['Ana@example.hr', 'iva@example.hr'] });
      expect(list.added).toEqual(new Set(list.ids));
      expect(await list.add()).toEqual(new Set());
      const listed = await s.invitations.listed(list.facts, ['ANA@example.hr', 'eva@example.hr']);
      expect(listed).toEqual(new Map([['ana@example.hr', list.id]]));
      const inTransaction = (tx: Parameters<typeof s.invitations.lock>[0]) =>
        s.invitations.listed(list.facts, ['ana@example.hr'], tx);
      expect(await s.purchase.inTransaction(inTransaction)).toEqual(listed);
      expect(await s.invitations.listed({ ...list.facts, listKey: 'two' }, ['ana@example.hr'])).toEqual(new Map());
    });

    check('an invitation is found by its token, with the deadlines of its quota', async (s) => {
      const { id, token, matchId, invitations } = await invite(s);
      const byToken = (of: string) => s.purchase.inTransaction((tx) => s.claims.lockByToken(tx, of));
      expect(await byToken('inv_unknown')).toBeUndefined();
      expect(await byToken(token)).toMatchObject({
        ...{ id, matchId, status: 'open', expiresAt: FUTURE, isOver: false, isOpenYet: true, opensAt: PAST, returnAt: FUTURE },
        ...{ reservationId: null, claimUntil: null, quotaName: 'Torcida', seatIds: invitations[0]?.seatIds },
      });
      const reservationId = randomUUID();
      await s.purchase.inTransaction((tx) => s.claims.setClaimed(tx, { id, reservationId, userId: randomUUID() }));
      expect((await byToken(token))?.reservationId).toBe(reservationId);
      expect(await lock(s, id)).toMatchObject({ id, status: 'open', reservationId, quantity: 2 });
      expect(await lock(s, randomUUID())).toBeUndefined();
    });

    check('due are open invitations whose time is over, the earliest first; ended ones are not locked', async (s) => {
      const [late, early, open] = [
        await invite(s, { expiresAt: PAST! }),
        await invite(s, { expiresAt: LONG_AGO! }),
        await invite(s),
      ];
      expect(await s.claims.due([], 10)).toEqual([early.id, late.id]);
      expect([await s.claims.due([early.id], 10), await s.claims.due([], 1)]).toEqual([[late.id], [early.id]]);
      await s.purchase.inTransaction((tx) => s.claims.setEnded(tx, [early.id], 'expired'));
      expect((await lock(s, early.id))?.status).toBe('expired');
      const lockOpen = () => s.purchase.inTransaction((tx) => s.claims.lockOpen(tx, [open.id, early.id, late.id]));
      const locked = await lockOpen();
      expect(new Map(locked.map(({ id, isOver }) => [id, isOver]))).toEqual(
        new Map([
          [open.id, false],
          [late.id, true],
        ]),
      );
      await s.purchase.inTransaction(async (tx) => {
        await s.invitations.lock(tx, open.id);
        expect(idsOf(await lockOpen())).toEqual([late.id]);
      });
    });

    check('open invitations of cancelled matches are listed', async (s) => {
      const [cancelled] = [await invite(s, { isCancelled: true }), await invite(s)];
      expect(await s.claims.openOfCancelledMatches(10)).toEqual([cancelled.id]);
      await s.purchase.inTransaction((tx) => s.claims.setEnded(tx, [cancelled.id], 'withdrawn'));
      expect(await s.claims.openOfCancelledMatches(10)).toEqual([]);
    });
  });
}
