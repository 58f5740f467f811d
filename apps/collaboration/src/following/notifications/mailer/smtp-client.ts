import { Transform } from 'node:stream';
import { createTransport } from 'nodemailer';
import type { SendMailOptions, Transporter } from 'nodemailer';
import type { MailerSettings } from './mailer.config';

/**
 * What the mail server said. `refused`: this message to this address is not wanted, and never will be; `later`: not
 * now, or it broke off over this one; `away`: nobody gets through to the server, so others need not be tried either.
 */
export interface SmtpAnswer {
  readonly outcome: 'accepted' | 'refused' | 'later' | 'away';
  readonly reply: string;
}

/** One pool of connections to the mail server. */
export class SmtpClient {
  private readonly transport: Transporter;
  private reaching: Promise<boolean> | undefined;

  constructor({ smtpUrl, connections, timeoutMs }: MailerSettings) {
    const options = {
      url: smtpUrl,
      pool: true,
      maxConnections: connections,
      maxMessages: 1000,
      // A message whose answer was lost is tried again by the queue, which knows of it, and not behind its back.
      maxRequeues: 0,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    };
    this.transport = createTransport(options as never) as Transporter;
    this.transport.use('stream', (mail, done) => {
      mail.message.transform(inOnePiece);
      done();
    });
  }

  /** Never rejects. */
  async send(mail: SendMailOptions): Promise<SmtpAnswer> {
    try {
      const info = (await this.transport.sendMail(mail)) as { response: string };
      return { outcome: 'accepted', reply: info.response };
    } catch (error) {
      const answer = judge(error as SmtpError);
      if (answer.outcome !== 'away' || isConnectFailure(error as SmtpError)) return answer;
      // A session that broke off says nothing of the server, nor of the messages of others.
      return (await this.isReached()) ? { ...answer, outcome: 'later' } : answer;
    }
  }

  /** Whether the server greets. Many that ask at once share the answer. */
  private isReached(): Promise<boolean> {
    this.reaching ??= this.transport
      .verify()
      .then(
        () => true,
        () => false,
      )
      .finally(() => (this.reaching = undefined));
    return this.reaching;
  }

  /** Ends idle connections at once, others when their message is through; `force` ends all. */
  close(force: boolean): void {
    (this.transport as unknown as { close(o: { force: boolean }): void }).close({ force });
  }
}

/** A message leaves in one write, not in one for each of its headers, parts and boundaries; it is small by its making. */
function inOnePiece(): Transform {
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

/** Replies about the recipient or the message count for it alone; all others are about the server or our access to it. */
const ABOUT_THE_MESSAGE = new Set(['RCPT TO', 'DATA']);

function judge(error: SmtpError): SmtpAnswer {
  const reply = (error.response ?? error.message).slice(0, 1000);
  const { responseCode, command = '' } = error;
  if (error.code === 'EMESSAGE' && responseCode === undefined) return { outcome: 'refused', reply };
  if (responseCode === undefined || !ABOUT_THE_MESSAGE.has(command) || responseCode === 421) {
    return { outcome: responseCode === undefined || command === 'CONN' ? 'away' : 'later', reply };
  }
  return { outcome: responseCode >= 500 ? 'refused' : 'later', reply };
}
