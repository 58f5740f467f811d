import { Transform } from 'node:stream';
import { createTransport } from 'nodemailer';
import type { SendMailOptions, Transporter } from 'nodemailer';
import type { MailerSettings } from './mailer.config';

/**
 * Answer of the mail server. `refused`: a permanent error for this message and address; `later`: a temporary error, or
 * the connection broke during this message; `busy`: the server refuses this connection for now, as servers do that limit the
 * connections of one client; `away`: the server cannot be reached, so other messages need not be tried.
 */
export interface SmtpAnswer {
  readonly outcome: 'accepted' | 'refused' | 'later' | 'busy' | 'away';
  readonly reply: string;
  /** Whether a refusal concerns the address, and neither the message nor the sender. */
  readonly isAddressRefusal?: boolean;
}

/** Pool of connections to the mail server. */
export class SmtpClient {
  private readonly transport: Transporter;
  private reaching: Promise<boolean> | undefined;

  constructor({ smtpUrl, connections, timeoutMs }: MailerSettings) {
    const options = {
      url: smtpUrl,
      pool: true,
      maxConnections: connections,
      maxMessages: 1000,
      // The queue retries a message whose answer was lost; the library must not do so on its own.
      maxRequeues: 0,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    };
    this.transport = createTransport(options as never) as Transporter;
    this.transport.use('stream', (mail, done) => {
      mail.message.transform(createSingleWriteTransform);
      done();
    });
  }

  /** Never rejects. */
  async sendMail(mail: SendMailOptions): Promise<SmtpAnswer> {
    try {
      const info = (await this.transport.sendMail(mail)) as { response: string };
      return { outcome: 'accepted', reply: info.response };
    } catch (error) {
      const answer = toSmtpAnswer(error as SmtpError);
      if (answer.outcome !== 'away' || isConnectFailure(error as SmtpError)) return answer;
      // A broken session does not show that the server is away, or that other messages would fail.
      return (await this.isServerReachable()) ? { ...answer, outcome: 'later' } : answer;
    }
  }

  /** Whether the server greets. Concurrent callers share one check. */
  private isServerReachable(): Promise<boolean> {
    this.reaching ??= this.transport
      .verify()
      .then(
        () => true,
        () => false,
      )
      .finally(() => (this.reaching = undefined));
    return this.reaching;
  }

  /** Closes idle connections at once, others after their message; `force` closes all. */
  close(force: boolean): void {
    (this.transport as unknown as { close(o: { force: boolean }): void }).close({ force });
  }
}

/** Joins a message into one write instead of one for each header, part and boundary. Messages are small. */
function createSingleWriteTransform(): Transform {
  const pieces: Buffer[] = [];
  return new Transform({
    transform: (piece: Buffer, _, done) => {
      pieces.push(piece);
      done();
    },
    flush: (done) => done(null, Buffer.concat(pieces)),
  });
}

interface SmtpError extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly responseCode?: number;
  readonly command?: string;
  readonly response?: string;
}

function isConnectFailure({ code, syscall }: SmtpError): boolean {
  return code === 'EDNS' || syscall === 'connect' || syscall === 'getaddrinfo';
}

/** Commands whose replies concern this message alone; replies to others concern the server or our access to it. */
const ABOUT_THE_MESSAGE = new Set(['RCPT TO', 'DATA']);

/**
 * Replies to `RCPT TO` about the address: enhanced status codes of RFC 3463 and RFC 7505 for an address that does not exist
 * or has moved, or a code of RFC 5321 without one. Other replies are about the sender, a full mailbox, pace or policy.
 */
const ADDRESS_REFUSAL = /^(?:5\d\d[ -]5\.1\.(?:1|2|3|6|10)\b|55[013][ -](?!\d\.\d))/;

function toSmtpAnswer(error: SmtpError): SmtpAnswer {
  const reply = (error.response ?? error.message).slice(0, 1000);
  const { responseCode, command = '' } = error;
  if (error.code === 'EMESSAGE' && responseCode === undefined) return { outcome: 'refused', reply };
  if (command === 'CONN' && responseCode !== undefined && responseCode < 500) return { outcome: 'busy', reply };
  if (responseCode === undefined || !ABOUT_THE_MESSAGE.has(command) || responseCode === 421) {
    return { outcome: responseCode === undefined || command === 'CONN' ? 'away' : 'later', reply };
  }
  if (responseCode < 500) return { outcome: 'later', reply };
  return { outcome: 'refused', reply, isAddressRefusal: command === 'RCPT TO' && ADDRESS_REFUSAL.test(reply) };
}
