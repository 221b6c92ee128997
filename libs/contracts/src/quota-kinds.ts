import { z } from 'zod';

/** What quotas are for. */
export const quotaKinds = ['club', 'fan_group', 'visitors', 'sponsor', 'media', 'federation', 'buffer'] as const;
export const quotaKind = z.enum(quotaKinds);
export type QuotaKind = z.infer<typeof quotaKind>;
