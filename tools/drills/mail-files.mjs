/**
 * E-mails in the mail server's folder; each file is read once.
 *
 * @typedef {{ id: string | undefined, to: string | undefined, text: string }} Mail
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';

export class MailFiles {
  /** By file name. @type {Map<string, Mail>} */
  #parsed = new Map();

  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
  }

  /** All e-mails; `to` is the first address. */
  async all() {
    for (const name of readdirSync(this.folder).filter((file) => file.endsWith('.eml'))) {
      if (this.#parsed.has(name)) continue;
      const mail = await simpleParser(readFileSync(join(this.folder, name)));
      this.#parsed.set(name, { id: mail.messageId, to: [mail.to].flat()[0]?.value[0]?.address, text: mail.text ?? '' });
    }
    return [...this.#parsed.values()];
  }
}
