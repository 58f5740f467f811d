import type { Socket } from 'node:net';
import { simpleParser } from 'mailparser';
import type { ParsedMail } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { unusedPort } from '@rookery/testing';

export interface ReceivedMail {
  readonly to: string;
  readonly raw: string;
  readonly parsed: ParsedMail;
  readonly at: number;
}

/**
 * A real SMTP server. `answer` decides about each message. Null accepts it, an object refuses it with its code and
 * text, and 'drop' ends the session without a reply.
 */
export interface MailServer {
  readonly url: string;
  readonly mails: ReceivedMail[];
  /** Sorted local parts of the recipients of accepted messages. */
  readonly recipients: () => string[];
  answer: (stage: 'rcpt' | 'data', to: string) => { code: number; text: string } | 'drop' | null | Promise<null>;
  mostConnections: number;
  /** Further connections are refused with 421. */
  connectionLimit: number;
  stop(): Promise<void>;
}

export async function startMailServer(port = 0): Promise<MailServer> {
  let open = 0;
  const refusal = async (stage: 'rcpt' | 'data', to: string, id: string): Promise<Error | null> => {
    const answer = await state.answer(stage, to);
    if (answer === 'drop') {
      // The types of the library omit its connections.
      const sessions = (server as unknown as { connections: Set<{ id: string; _socket: Socket }> }).connections;
      [...sessions].find((one) => one.id === id)?._socket.destroy();
      return new Error('dropped');
    }
    return answer ? Object.assign(new Error(answer.text), { responseCode: answer.code }) : null;
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    disableReverseLookup: true,
    onConnect(_session, done) {
      open += 1;
      if (open > state.connectionLimit)
        return done(Object.assign(new Error('too many connections'), { responseCode: 421 }));
      state.mostConnections = Math.max(state.mostConnections, open);
      done();
    },
    onClose: () => void open--,
    onRcptTo: (address, session, done) =>
      void refusal('rcpt', address.address, session.id).then((error) => done(error)),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map((one) => one.address).join();
        const raw = Buffer.concat(chunks);
        void refusal('data', to, session.id).then(async (error) => {
          if (error) return done(error);
          state.mails.push({ to, raw: raw.toString(), parsed: await simpleParser(raw), at: Date.now() });
          done(null, 'taken');
        });
      });
    },
  });
  server.on('error', () => undefined);
  const state: MailServer = {
    url: '',
    mails: [],
    recipients: () => state.mails.map((mail) => mail.to.split('@')[0]!).sort(),
    answer: () => null,
    mostConnections: 0,
    connectionLimit: Infinity,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const at = port || (await unusedPort());
  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  return Object.assign(state, { url: `smtp://127.0.0.1:${at}` });
}
