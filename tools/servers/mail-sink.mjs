/**
 * SMTP server that stores every e-mail as a file and sends none.
 *
 * @typedef {{ url: string, stop(): Promise<unknown> }} MailSink
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { freePort } from '../processes/process-records.mjs';

/**
 * Starts the server. A message is acknowledged after its `.eml` file is complete in `folder`.
 * @param {{ folder: string, port?: number }} options
 * @returns {Promise<MailSink>}
 */
export async function startMailSink({ folder, port }) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let count = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    size: 25 * 1024 * 1024,
    logger: false,
    onData(stream, session, done) {
      /** @type {Buffer[]} */
      const chunks = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('error', done);
      stream.on('end', () => {
        const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
        const name = `${stamp}-${String(++count).padStart(6, '0')}.eml`;
        try {
          storeMail(join(folder, name), envelopeHeaders(session), chunks);
          done(null, `kept as ${name}`);
        } catch (error) {
          done(/** @type {Error} */ (error));
        }
      });
    },
  });
  server.on('error', () => {});
  const at = port ?? (await freePort());
  await new Promise((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(at, '127.0.0.1', () => resolve(undefined));
  });
  return {
    url: `smtp://127.0.0.1:${at}`,
    stop: () => new Promise((resolve) => server.close(() => resolve(undefined))),
  };
}

/**
 * Headers with the addresses of the SMTP envelope, which can differ from those in the message.
 * @param {import('smtp-server').SMTPServerSession} session
 */
function envelopeHeaders({ envelope: { mailFrom, rcptTo } }) {
  const to = rcptTo.map(({ address }) => `X-Envelope-To: ${address}\r\n`).join('');
  return `X-Envelope-From: ${mailFrom ? mailFrom.address : ''}\r\n${to}`;
}

/**
 * @param {string} file
 * @param {string} head
 * @param {Buffer[]} chunks
 */
function storeMail(file, head, chunks) {
  writeFileSync(`${file}.part`, Buffer.concat([Buffer.from(head), ...chunks]), { mode: 0o600 });
  renameSync(`${file}.part`, file);
}
