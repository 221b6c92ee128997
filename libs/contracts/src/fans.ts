import { z } from 'zod';
import { emailAddress, personName } from './text-fields.ts';

const locale = z.enum(['hr', 'en']).meta({ description: 'Language of mails and pushes: Croatian or English' });

/**
 * The body that replaces a profile. All fields are required; address and name may be null, so that a client can send back the
 * profile it read.
 */
export const profileBody = z
  .strictObject({
    email: emailAddress.nullable().meta({ description: 'The new address for mails. Null: none' }),
    name: personName.nullable().meta({ description: 'The new name. Null: none' }),
    locale,
  })
  .meta({ id: 'ProfileChange' });

export const profileAnswer = z
  .object({
    email: z.string().nullable().meta({ description: 'Address for mails. Null: the fan has given none' }),
    name: z.string().nullable().meta({ description: 'Name of the fan. Null: the fan has given none' }),
    locale,
  })
  .meta({ id: 'Profile' });

export type Profile = z.infer<typeof profileAnswer>;

export const deviceIdParam = z
  .string()
  .regex(/^[\w.-]{1,100}$/, 'must be 1 to 100 letters, digits, dots, hyphens or underscores')
  .meta({ description: 'The id that the app gave this device' });

/** The body that registers a device. FCM does not document a maximum token length. Current tokens have about 160 characters. */
export const deviceBody = z
  .strictObject({
    fcm_token: z
      .string()
      .regex(/^[\x21-\x7e]{1,1024}$/, 'must be 1 to 1024 visible ASCII characters')
      .meta({ description: 'Address of the device at Firebase Cloud Messaging. A new token replaces the old one' }),
  })
  .meta({ id: 'DeviceRegistration' });
