/** E-mails in the mail server's folder; each is read once. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';

export class MailFiles {
  #parsed = new Map();

  constructor(folder) {
    this.folder = folder;
  }

  /** Shape: `{ id, to, text }`, `to` the first address. */
  async all() {
    for (const name of readdirSync(this.folder).filter((file) => file.endsWith('.eml'))) {
      if (this.#parsed.has(name)) continue;
      const mail = await simpleParser(readFileSync(join(this.folder, name)));
      this.#parsed.set(name, { id: mail.messageId, to: [mail.to].flat()[0]?.value[0]?.address, text: mail.text ?? '' });
    }
    return [...this.#parsed.values()];
  }
}
