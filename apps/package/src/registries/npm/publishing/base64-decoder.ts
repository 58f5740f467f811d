import { Refused } from '@rookery/kernel';

const PLAIN = /^[A-Za-z0-9+/]*$/;
const invalidBase64Refusal = (): Refused => new Refused('Attachment data is not valid base64.', { verbatim: true });

/** Decodes base64 piece by piece. White space is ignored and padding may be left out. Errors: Refused. */
export class Base64Decoder {
  private carry = '';
  private padding = 0;

  /** Returns the bytes that are complete. */
  write(text: string): Buffer {
    const solid = PLAIN.test(text) ? text : text.replace(/[\t\n\r ]+/g, '');
    const characters = PLAIN.test(solid) ? solid : solid.slice(0, solid.indexOf('='));
    const padding = solid.slice(characters.length);
    const isLate = this.padding > 0 && characters !== '';
    if (isLate || !PLAIN.test(characters) || !/^={0,2}$/.test(padding)) throw invalidBase64Refusal();
    this.padding += padding.length;
    const all = this.carry + characters;
    const whole = all.length - (all.length % 4);
    this.carry = all.slice(whole);
    return Buffer.from(all.slice(0, whole), 'base64');
  }

  /** Returns the last bytes. */
  end(): Buffer {
    const isWhole = this.padding === 0 || this.carry.length + this.padding === 4;
    if (this.carry.length === 1 || !isWhole) throw invalidBase64Refusal();
    return Buffer.from(this.carry, 'base64');
  }
}
