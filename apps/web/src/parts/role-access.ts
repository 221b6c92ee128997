import type { OpsAccess } from '#contracts/roles';

/**
 * The roles that have each part of what operators may do, as the server decides it. A test compares this with libs/contracts, from which
 * the page imports types only.
 */
export const rolesWith: Readonly<Record<OpsAccess, readonly OpsAccess[]>> = {
  ops: ['ops'],
  'ops:read': ['ops:read', 'ops:sale', 'ops:money', 'ops:lists', 'ops'],
  'ops:sale': ['ops:sale', 'ops'],
  'ops:money': ['ops:money', 'ops'],
  'ops:lists': ['ops:lists', 'ops'],
};

/** Each role of operators, the one for everything first. */
export const opsRoles = Object.keys(rolesWith) as OpsAccess[];
