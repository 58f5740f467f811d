/** Takes every e-mail by SMTP and keeps it as a file; nothing leaves the machine. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { freePort } from './processes.mjs';

/** Answers `{ url, stop() }`. A message is acknowledged once its `.eml` file is complete in `folder`. */
export async function startMailSink({ folder, port }) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let count = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    size: 25 * 1024 * 1024,
    logger: false,
    onData(stream, session, done) {
      const chunks = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('error', done);
      stream.on('end', () => {
        const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
        const name = `${stamp}-${String(++count).padStart(6, '0')}.eml`;
        try {
          keep(join(folder, name), envelope(session), chunks);
          done(null, `kept as ${name}`);
        } catch (error) {
          done(error);
        }
      });
    },
  });
  server.on('error', () => {});
  const at = port ?? (await freePort());
  await new Promise((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(at, '127.0.0.1', resolve);
  });
  return { url: `smtp://127.0.0.1:${at}`, stop: () => new Promise((resolve) => server.close(resolve)) };
}

/** Who the message went to can differ from what it says, so the envelope is kept in front of it. */
function envelope({ envelope: { mailFrom, rcptTo } }) {
  const to = rcptTo.map(({ address }) => `X-Envelope-To: ${address}\r\n`).join('');
  return `X-Envelope-From: ${mailFrom ? mailFrom.address : ''}\r\n${to}`;
}

function keep(file, head, chunks) {
  writeFileSync(`${file}.part`, Buffer.concat([Buffer.from(head), ...chunks]), { mode: 0o600 });
  renameSync(`${file}.part`, file);
}
