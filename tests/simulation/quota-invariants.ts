import { isHeld, tables, type SeatRow } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import type { Invitation } from '../../apps/monolith/src/quota/invitations/postgres-invitations.ts';
import { quotaTables, type MoveRow } from '../../apps/monolith/src/quota/testing/memory-quota-tables.ts';
import type { Quota } from '../../apps/monolith/src/quota/tree/quota.ts';
import type { SimulatedTransaction } from '#testing/simulation/simulated-database';
import type { SimulatedSystem } from './replicas.ts';

/** Checks the invariants of quotas that must hold after every commit. Returns the broken ones. */
export function quotaFaultsNow(system: SimulatedSystem): string[] {
  if (!system.style.quotas) return [];
  const seats = system.db.rows(tables.seats);
  return [
    ...ledgerFaults(system, seats),
    ...seats.flatMap((seat) => placeFaults(system, seat)),
    ...system.db.rows(quotaTables.invitations).flatMap((invitation) => invitationFaults(system, invitation)),
    ...pendingFaults(system),
  ];
}

/** Q1: every place belongs to the target of its last move, and every move took it from the owner that it had. */
function ledgerFaults({ db }: SimulatedSystem, seats: readonly SeatRow[]): string[] {
  const owners = new Map<string, string | null>();
  const faults: string[] = [];
  for (const { id, from, to, seatIds } of db.rows(quotaTables.moves).sort((a, b) => a.seq - b.seq)) {
    for (const seatId of seatIds) {
      if ((owners.get(seatId) ?? null) !== from) faults.push(`Q1: ${id} moved ${seatId} from ${from}, which did not have it`);
      owners.set(seatId, to);
    }
  }
  const lost = seats.filter(({ id, quotaId }) => (owners.get(id) ?? null) !== quotaId);
  return [...faults, ...lost.map(({ id, quotaId }) => `Q1: ${id} is in ${quotaId}, in the ledger in ${owners.get(id) ?? null}`)];
}

/**
 * Q2: a bound place is bound to one living invitation or pending move that lists it. Q3: a place of a quota is free, invited, held or
 * sold, and never for sale to the public. Q4: a held or sold place of a quota has the claim of an invitation of that quota.
 */
function placeFaults({ db, scheduler }: SimulatedSystem, seat: SeatRow): string[] {
  const { id, quotaId, boundTo, status, reservationId } = seat;
  const faults: string[] = [];
  if (quotaId === null && boundTo !== null) faults.push(`Q2: ${id} of the public is bound to ${boundTo}`);
  if (quotaId !== null && status === 'available') faults.push(`Q3: ${id} of ${quotaId} is for sale to the public`);
  if (boundTo !== null && status !== 'sold') {
    const invitation = db.read(quotaTables.invitations, boundTo);
    const request = db.read(tables.moveRequests, boundTo);
    const owner = invitation?.status === 'open' ? invitation.quotaId : request?.status === 'pending' ? request.from : undefined;
    if (owner !== quotaId) faults.push(`Q2: ${id} of ${quotaId} is bound to ${boundTo}, which has ended or is of ${owner}`);
    if (!(invitation ?? request)?.seatIds.includes(id)) faults.push(`Q2: ${id} is bound to ${boundTo}, which does not list it`);
  }
  if (quotaId === null || !(status === 'sold' || isHeld(seat, scheduler.nowMs))) return faults;
  const claimed = db.read(quotaTables.invitations, db.read(tables.reservations, reservationId ?? '')?.invitationId ?? '');
  if (claimed?.quotaId !== quotaId || !claimed.seatIds.includes(id) || claimed.reservationId === null)
    faults.push(`Q4: ${id} of ${quotaId} is ${status} by ${reservationId}, which is no claim of its invitations`);
  return faults;
}

/**
 * Q2: each place of an open invitation is bound to it until it is paid. Q5: an invitation has ended as claimed if its places were
 * bought, and only then; nobody holds places of an ended one; it has one living claim at most.
 */
function invitationFaults({ db, scheduler }: SimulatedSystem, { id, status, seatIds }: Invitation): string[] {
  const claims = db.rows(tables.reservations, ({ invitationId }) => invitationId === id);
  const bought = claims.filter((claim) => claim.status === 'completed');
  const isLiving = ({ status: of, expiresAtMs }: (typeof claims)[number]): boolean =>
    (of === 'held' || of === 'ordered') && expiresAtMs > scheduler.nowMs;
  const living = claims.filter(isLiving);
  const unbound = seatIds.filter((seatId) => db.read(tables.seats, seatId)?.boundTo !== id);
  const hasEnded = status === 'expired' || status === 'withdrawn';
  return [
    ...(status === 'open' && bought.length === 0 ? unbound.map((seatId) => `Q2: ${seatId} is not bound to open ${id}`) : []),
    ...(bought.length + living.length > 1 ? [`Q5: ${id} has ${bought.length} paid and ${living.length} living claims`] : []),
    ...(hasEnded && bought.length > 0 ? [`Q5: ${id} is ${status}, but its places were bought`] : []),
    ...(hasEnded && living.length > 0 ? [`Q5: ${id} is ${status}, but a fan holds its places`] : []),
    ...(status === 'claimed' && bought.length === 0 ? [`Q5: ${id} is claimed, but nobody has bought its places`] : []),
  ];
}

/** Q2: every place of a pending move is bound to it. */
function pendingFaults({ db }: SimulatedSystem): string[] {
  const pending = db.rows(tables.moveRequests, ({ status }) => status === 'pending');
  return pending.flatMap(({ id, seatIds }) =>
    seatIds
      .filter((seatId) => db.read(tables.seats, seatId)?.boundTo !== id)
      .map((seatId) => `Q2: ${seatId} is not bound to pending ${id}`),
  );
}

/**
 * Faults Q6 of a commit: it returns a quota again, moves places into a returned quota, or makes a child of it. Only returns of its
 * children may give it places.
 */
export function returnFaults({ db }: SimulatedSystem, { footprint }: SimulatedTransaction): string[] {
  const isReturned = (owner: string | null): boolean => db.read(quotaTables.quotas, owner ?? '')?.status === 'returned';
  return [...footprint.writes].flatMap(([{ table, id }, { before, after }]) => {
    if (table === quotaTables.quotas.name)
      return (before as Quota | undefined)?.status === 'returned' ? [`Q6: ${id} was returned twice`] : [];
    if (table !== quotaTables.moves.name) return [];
    const { kind, from, to } = after as MoveRow;
    return [
      ...(isReturned(to) && kind !== 'return' ? [`Q6: ${id} moved places to ${to}, which has returned its places`] : []),
      ...(isReturned(from) && kind === 'creation' ? [`Q6: ${id} made a child of ${from}, which has returned its places`] : []),
    ];
  });
}

/** Checks what must hold at the end, when all fans are done and the deadlines were kept once more. */
export function quotaFaultsAtEnd({ db, scheduler, style }: SimulatedSystem): string[] {
  if (!style.quotas) return [];
  const isPast = (at: Date | null): boolean => at !== null && at.getTime() <= scheduler.nowMs;
  const quotas = db.rows(quotaTables.quotas);
  const open = db.rows(quotaTables.invitations, ({ status }) => status === 'open');
  const isCancelled = db.rows(tables.matches, ({ cancelledAt }) => cancelledAt !== undefined).length > 0;
  const free = (quotaId: string): SeatRow[] =>
    db.rows(tables.seats, (seat) => seat.quotaId === quotaId && seat.boundTo === null && seat.status === 'blocked');
  return [
    ...quotas
      .filter(({ status, returnAt }) => status === 'open' && isPast(returnAt))
      .map(({ id }) => `Q7: ${id} was not returned`),
    ...quotas
      .filter(({ id, status, onReturn }) => status === 'returned' && onReturn !== 'keep' && free(id).length > 0)
      .map(({ id }) => `Q7: ${id} has free places after its return`),
    ...open.filter(({ expiresAt }) => isPast(expiresAt)).map(({ id }) => `Q7: ${id} is open after its end`),
    ...(isCancelled ? open.map(({ id }) => `Q7: ${id} is open in a cancelled match`) : []),
  ];
}

/** The number of events of quotas, by kind. Shows whether many sales together cover all kinds. */
export function countQuotaEvents({ db }: SimulatedSystem): Record<string, number> {
  const ledger = (kind: string, hasTarget: boolean): number =>
    db.rows(quotaTables.moves, (move) => move.kind === kind && (move.to !== null) === hasTarget).length;
  const invitations = (status: string): number => db.rows(quotaTables.invitations, (row) => row.status === status).length;
  const claims = db.rows(tables.reservations, ({ invitationId }) => invitationId !== null);
  const late = db.rows(quotaTables.moves, ({ reason }) => reason === 'places that became free after the return').length;
  return {
    ...{ 'child quotas': db.rows(quotaTables.quotas, ({ parentId }) => parentId !== null).length },
    ...{ creations: ledger('creation', true), moves: ledger('move', true), 'moves to the public': ledger('move', false) },
    ...{ 'returns to the public': ledger('return', false), 'returns to a parent': ledger('return', true), 'late returns': late },
    ...{ 'approved moves': db.rows(quotaTables.moves, ({ approvedBy }) => approvedBy !== null).length },
    ...{ claims: claims.length, 'paid claims': claims.filter(({ status }) => status === 'completed').length },
    ...{ 'lapsed claims': claims.filter(({ status }) => status === 'expired').length },
    ...{ 'claimed invitations': invitations('claimed'), 'expired invitations': invitations('expired') },
    ...{ 'withdrawn invitations': invitations('withdrawn') },
  };
}
