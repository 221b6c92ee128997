import type { QuotaKind } from '#contracts/quota-kinds';
import { DomainError } from '#domain/shared/domain-error';

/** Where the free places of a quota go at its `returnAt`. */
export type OnReturn = 'public' | 'parent' | 'keep';

/** What an operator sets when creating a quota and can change later. */
export interface QuotaSettings {
  readonly name: string;
  readonly members: readonly string[];
  readonly contactEmail: string | null;
  readonly opensAt: Date | null;
  readonly claimUntil: Date | null;
  readonly returnAt: Date | null;
  readonly onReturn: OnReturn;
  readonly neverTo: readonly QuotaKind[];
  /** Sector id → price. A missing sector has its ordinary price. */
  readonly priceCents: Readonly<Record<string, number>>;
  readonly maxPerInvitation: number;
}

/** A set of places of a match that is set aside for an owner; a node of a tree. */
export interface Quota extends QuotaSettings {
  readonly id: string;
  readonly matchId: string;
  readonly parentId: string | null;
  /** 1 for a quota without a parent. */
  readonly depth: number;
  readonly kind: QuotaKind;
  readonly status: 'open' | 'returned';
  readonly returnedAt: Date | null;
  readonly createdAt: Date;
}

/** What decides where places of a quota may go: the quota first, then its ancestors up to the root. */
export type QuotaChain = readonly Pick<Quota, 'id' | 'name' | 'kind' | 'neverTo'>[];

/** A quota without a parent has depth 1. */
export const MAX_DEPTH = 4;

/** A fault of one field of a request. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}

/** The price of a place of the quota: its own for the sector, else the ordinary one. */
export function priceOf(
  { priceCents }: Pick<QuotaSettings, 'priceCents'>,
  sector: { readonly id: string; readonly priceCents: number },
): number {
  return priceCents[sector.id] ?? sector.priceCents;
}

type Deadlines = Pick<QuotaSettings, 'opensAt' | 'claimUntil' | 'returnAt'>;

/**
 * The faults of a quota's deadlines: opensAt < claimUntil ≤ returnAt ≤ kick-off. A deadline that is set to a time that has passed
 * is a fault too. `before` has the deadlines that the quota had until now: unchanged ones may have passed.
 */
export function deadlineFaults(
  { opensAt, claimUntil, returnAt }: Deadlines,
  { kickoffAt, now, before }: { readonly kickoffAt: Date; readonly now: Date; readonly before?: Deadlines },
): readonly FieldFault[] {
  const named = (['opens_at', 'claim_until', 'return_at'] as const).map((path, index) => ({
    path,
    at: [opensAt, claimUntil, returnAt][index]?.getTime(),
    was: before && [before.opensAt, before.claimUntil, before.returnAt][index]?.getTime(),
  }));
  const given = named.filter(({ at }) => at !== undefined) as { path: string; at: number; was: number | undefined }[];
  const order = given.flatMap(({ path, at }, index) => {
    const earlier = given[index - 1];
    if (!earlier) return [];
    if (earlier.path === 'opens_at') return at <= earlier.at ? [{ path, message: 'must be after opens_at' }] : [];
    return at < earlier.at ? [{ path, message: `must not be before ${earlier.path}` }] : [];
  });
  const late = given
    .filter(({ path, at, was }) => at !== was && (path === 'opens_at' ? at >= kickoffAt.getTime() : at > kickoffAt.getTime()))
    .map(({ path }) => ({ path, message: 'must not be after kick-off' }));
  const past = given
    .filter(({ path, at, was }) => path !== 'opens_at' && at !== was && at <= now.getTime())
    .map(({ path }) => ({ path, message: 'must be in the future' }));
  return [...order, ...late, ...past];
}

/**
 * The settings with no deadline after kick-off. Those that are later become the kick-off; a quota that would open then or later opens a
 * second before, because `opensAt` comes before the other deadlines.
 */
export function cutAtKickoff<Settings extends Deadlines>(settings: Settings, kickoffAt: Date): Settings {
  const cut = (deadline: Date | null, latest: number): Date | null => deadline && new Date(Math.min(deadline.getTime(), latest));
  const { opensAt, claimUntil, returnAt } = settings;
  const kickoff = kickoffAt.getTime();
  return {
    ...settings,
    opensAt: cut(opensAt, kickoff - 1000),
    claimUntil: cut(claimUntil, kickoff),
    returnAt: cut(returnAt, kickoff),
  };
}

/** When invitations to the quota end at the latest. */
export function endOfInvitations(
  { claimUntil, returnAt }: Pick<QuotaSettings, 'claimUntil' | 'returnAt'>,
  { kickoffAt }: { readonly kickoffAt: Date },
): Date {
  return claimUntil ?? returnAt ?? kickoffAt;
}

/** The rule that forbids places of the first quota of the chain to go to a quota of this kind. Undefined if none does. */
export function ruleAgainst(chain: QuotaChain, kind: QuotaKind): string | undefined {
  const forbidding = chain.find(({ neverTo }) => neverTo.includes(kind));
  return forbidding && `never_to: places of "${forbidding.name}" never go to ${kind}`;
}

/**
 * The rule that forbids a new quota of this kind below the first quota of the chain. A quota may always be divided into parts of its
 * own kind: its places stay with the same people.
 */
export function ruleAgainstChild(chain: QuotaChain, kind: QuotaKind): string | undefined {
  return chain[0]?.kind === kind ? undefined : ruleAgainst(chain, kind);
}

/** The rule that forbids a quota to return its places to its parent, the second of the chain. */
export function ruleAgainstReturnToParent(chain: QuotaChain): string | undefined {
  const [own, parent] = chain;
  return !own || !parent || own.kind === parent.kind ? undefined : ruleAgainst(chain, parent.kind);
}

export function moveRefused(rule: string): DomainError {
  return new DomainError('MOVE_REFUSED', `A rule refuses this move: ${rule}.`, { rule });
}

export function invalidFields(errors: readonly FieldFault[]): DomainError {
  return new DomainError('VALIDATION_FAILED', 'The request is malformed: see errors.', { errors });
}
