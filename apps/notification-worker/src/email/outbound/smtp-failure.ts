import { NoAnswer, NotSent, ProviderDown, Refused, type SendFailure } from '#messaging/sending/send-errors';

/** The fields of nodemailer's errors that we read. */
export interface SmtpError extends Error {
  /** The kind of error, such as ETIMEDOUT, and the code of Node's error below it, such as ECONNREFUSED. */
  readonly code?: string;
  readonly originalCode?: string;
  readonly syscall?: string;
  /** The step of the SMTP session, such as RCPT TO. All errors of the connection have CONN. */
  readonly command?: string;
  /** The reply of the server, for example `550 5.1.1 no such user`, and its first number. */
  readonly response?: string;
  readonly responseCode?: number;
}

/** What a shown text must not contain: the recipient, and the secrets of our account at the mail server. */
export interface HiddenTexts {
  readonly recipient: string;
  readonly secrets: readonly string[];
}

/** Maximum length of the shown reply of a server or error of the connection. */
const MAX_CHARACTERS = 200;
/** How much of a reply is read. It limits the time of the search for addresses in a reply of a megabyte. */
const MAX_READ_CHARACTERS = 1000;
/** Shorter names of mailboxes are ordinary words, such as `no` in "no such user". */
const MIN_MAILBOX_CHARACTERS = 3;
const HIDDEN = '•••';
const ADDRESS = /[^\s<>"'(),;:=]+@[^\s<>"'(),;:]+/g;
/** The second and later lines of a reply repeat its codes. */
const NEXT_LINE = /[\r\n]+(?:\d{3}[ -]?)?(?:\d\.\d{1,3}\.\d{1,3} )?/g;

/** Steps of a session before the first mail. An error in them concerns every mail. */
const BEFORE_MAILS = /^(CONN|EHLO|HELO|LHLO|STARTTLS)$/;
/** The size of this mail is refused, also in the step MAIL FROM. */
const TOO_LARGE = 552;
/**
 * Matches nodemailer's messages for timeouts before the SMTP session began. Later timeouts have the same error code, but another
 * message.
 */
const TIMEOUT_BEFORE_SESSION = /^(Connection timeout|Greeting never received)/;
/** Codes of TLS handshakes that failed. Errors of later TLS records have other codes. */
const TLS_HANDSHAKE =
  /CERT|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HANDSHAKE|PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/;

/** Turns nodemailer's error into a SendFailure that names the reason. */
export function smtpFailure(error: SmtpError, hidden: HiddenTexts): SendFailure {
  const { command = 'CONN', response, responseCode, message } = error;
  const reason = `smtp ${command}: ${response ? shown(response, hidden) : `${kindOf(error)}: ${shown(message, hidden)}`}`;
  return responseCode === undefined ? withoutReply(error, reason) : withReply(error, responseCode, reason);
}

/**
 * As with Mailgun, a refusal is final only if it is about this mail: its recipient, its size or its content. A refusal of our account
 * or of our sender address concerns every mail, and all mails can be sent after our settings are corrected.
 */
function withReply({ code, command = 'CONN' }: SmtpError, responseCode: number, reason: string): SendFailure {
  if (code === 'EAUTH' || responseCode === 530 || responseCode === 535) return new NotSent(reason);
  if (responseCode === 421 || BEFORE_MAILS.test(command)) return new ProviderDown(reason);
  const isAboutMail = command !== 'MAIL FROM' || responseCode === TOO_LARGE;
  return responseCode >= 500 && isAboutMail ? new Refused(reason) : new NotSent(reason);
}

function withoutReply(error: SmtpError, reason: string): SendFailure {
  const { code, syscall, message } = error;
  if (code === 'EAUTH') return new NotSent(reason);
  if (code === 'EENVELOPE') return new Refused(reason);
  const hasNoSession = syscall === 'connect' || code === 'EDNS' || isTlsHandshake(error) || TIMEOUT_BEFORE_SESSION.test(message);
  return hasNoSession ? new ProviderDown(reason) : new NoAnswer(reason);
}

const isTlsHandshake = ({ code, originalCode }: SmtpError): boolean =>
  code === 'ETLS' || TLS_HANDSHAKE.test(originalCode ?? code ?? '');

/** What happened to the connection, in words. */
function kindOf(error: SmtpError): string {
  const codes = [error.originalCode, error.code];
  if (codes.includes('ECONNREFUSED')) return 'connection refused';
  if (isTlsHandshake(error)) return 'TLS failed';
  if (codes.includes('EDNS')) return 'host not found';
  if (codes.includes('ETIMEDOUT')) return 'timeout';
  if (codes.includes('EENVELOPE')) return 'invalid envelope';
  return error.syscall === 'connect' ? 'no connection' : 'connection lost';
}

/** A text of the server as one short line without addresses and secrets. */
function shown(text: string, { recipient, secrets }: HiddenTexts): string {
  const read = text.length > MAX_READ_CHARACTERS ? text.slice(0, MAX_READ_CHARACTERS).replace(/\S*$/, '') : text;
  let line = read.replace(/^(\d{3})-/, '$1 ').replace(NEXT_LINE, ' ');
  for (const secret of secrets) line = line.replaceAll(secret, HIDDEN);
  const mailbox = recipient.slice(0, recipient.lastIndexOf('@'));
  line = line.replace(ADDRESS, HIDDEN);
  if (mailbox.length >= MIN_MAILBOX_CHARACTERS) line = line.replace(wordsOf(mailbox), HIDDEN);
  // eslint-disable-next-line no-control-regex
  line = line.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line;
}

/** Matches a text where it is a word of its own. */
function wordsOf(text: string): RegExp {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'giu');
}
