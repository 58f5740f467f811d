import type { SeededService, SeededUser } from '@rookery/testing';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats } from '@rookery/testing';
import { startMailServer } from './mail-server';
import type { MailServer, ReceivedMail } from './mail-server';
import { startWorker } from './worker';
import type { Worker } from './worker';

/** Sorted usernames, which are the local parts of addresses. */
export const names = (...people: readonly SeededUser[]): string[] => people.map((one) => one.username).sort();

export const header = (mail: ReceivedMail, name: string) => mail.parsed.headers.get(name);

/** A worker that sends the e-mails queued by a service under test to a real mail server, and the received e-mails. */
export function mailbox(at: () => SeededService) {
  let nats: PrivateNats;
  let smtp: MailServer;
  let worker: Worker;
  const startedWith = (env: Readonly<Record<string, string>>): Promise<Worker> =>
    startWorker({ databaseUrl: at().databaseUrl, nats, env: { SMTP_URL: smtp.url, ...env } });
  /** Waits until every queued e-mail is sent, dropped or failed. */
  async function delivered(): Promise<void> {
    await worker.drained();
    await until(async () => {
      const rows = await at().database.query(`select 1 from mails where state = 'queued' limit 1`);
      return rows.length === 0;
    }, 'an empty queue');
  }
  async function restart(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await worker.stop();
    worker = await startedWith(env);
  }
  return {
    delivered,
    restart,
    async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
      nats = await startNats();
      smtp = await startMailServer();
      worker = await startedWith(env);
    },
    async stop(): Promise<void> {
      await worker.stop();
      await smtp.stop();
      await nats.drop();
    },
    mails: () => smtp.mails,
    nats: () => nats,
    worker: () => worker,
    /** Returns the recipients since the last `clear`. */
    async recipients(): Promise<string[]> {
      await delivered();
      return smtp.recipients();
    },
    async clear(): Promise<void> {
      await delivered();
      smtp.mails.length = 0;
    },
    mailTo: (user: SeededUser): ReceivedMail => smtp.mails.find((mail) => mail.to === user.notification_email)!,
    /** Queues e-mails with a worker that cannot send, applies the change, and sends them with another worker. */
    async sendAfterChange<T>(cause: () => Promise<T>, change: (caused: T) => Promise<unknown>): Promise<void> {
      await delivered();
      smtp.mails.length = 0;
      await restart({ SMTP_URL: 'smtp://127.0.0.1:9', MAILER_RETRY_FIRST_MS: '1' });
      const caused = await cause();
      await worker.drained();
      await worker.stop();
      await at().database.query(`update mails set next_attempt_at = now() where state = 'queued'`);
      await change(caused);
      worker = await startedWith({});
    },
    /** Writes without a worker, applies the change, and starts a worker, which runs the effects and sends the e-mails. */
    async effectsAfterChange<T>(cause: () => Promise<T>, change: (caused: T) => Promise<unknown>): Promise<T> {
      await delivered();
      smtp.mails.length = 0;
      await worker.stop();
      const caused = await cause();
      await change(caused);
      worker = await startedWith({});
      await delivered();
      return caused;
    },
    /** Returns the state of the newest e-mail to a user. */
    async lastState(user: SeededUser): Promise<string | undefined> {
      const [row] = await at().database.query<{ state: string }>(
        'select state from mails where recipient_id = $1 order by id desc limit 1',
        [user.id],
      );
      return row?.state;
    },
  };
}
