import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';

/** The text before `@` of an RFC 5322 message id, in the form that every mail server accepts. */
const LOCAL_PART = /^[\w-]+(\.[\w-]+)*$/;
const MAX_LOCAL_PART_CHARACTERS = 64;

/**
 * The Message-ID of a mail, with the domain of its sender. It depends on the message only, so a mail that is sent again has the same
 * one, and mail servers and programs can drop the second copy. The id of a job may be any text: one that does not fit is hashed.
 */
export function messageIdHeader(messageId: string, from: string): string {
  const fits = LOCAL_PART.test(messageId) && messageId.length <= MAX_LOCAL_PART_CHARACTERS;
  const localPart = fits ? messageId : createHash('sha256').update(messageId).digest('hex');
  const domain = /@([^\s<>@]+)>?\s*$/.exec(from)?.[1] ?? '';
  return `<${localPart}@${domainToASCII(domain) || 'localhost'}>`;
}
