/**
 * Which roles may make a call, by the access that its route declares (CONTRACT §14). A caller needs one of them; the parts of several
 * roles add up. `ops` may do everything that operators and partners may do.
 */
const rolesByAccess = {
  'ops:read': ['ops:read', 'ops:sale', 'ops:money', 'ops:lists', 'ops'],
  'ops:sale': ['ops:sale', 'ops'],
  'ops:money': ['ops:money', 'ops'],
  'ops:lists': ['ops:lists', 'ops'],
  ops: ['ops'],
  partner: ['partner', 'ops:sale', 'ops'],
  gate: ['gate'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Access for people who work for the club: operators, partners and stewards. */
export type StaffAccess = keyof typeof rolesByAccess;

/** A part of what operators may do, or all of it (`ops`). */
export type OpsAccess = Extract<StaffAccess, 'ops' | `ops:${string}`>;

/** Each role of operators, the one for everything first. */
export const opsRoles = ['ops', 'ops:read', 'ops:sale', 'ops:money', 'ops:lists'] as const satisfies readonly OpsAccess[];

/** The roles that may make a call with this access, or undefined if it needs no role. */
export function rolesWith(access: string): readonly string[] | undefined {
  return Object.hasOwn(rolesByAccess, access) ? rolesByAccess[access as StaffAccess] : undefined;
}

/** True if one of the roles may make a call with this access. */
export function hasAccess(roles: readonly string[], access: StaffAccess): boolean {
  return rolesByAccess[access].some((role) => roles.includes(role));
}

/** True for the access of operators: all of it or a part. */
export function isForOperators(access: string | undefined): access is OpsAccess {
  return access !== undefined && (opsRoles as readonly string[]).includes(access);
}
