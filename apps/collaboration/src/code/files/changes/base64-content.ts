import { ValidateBy } from 'class-validator';

export type ContentEncoding = 'text' | 'base64';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Refuses content that is not in the encoding that the field `encoding` names. That field must be declared before.
 * Source: reference repositories 3.6.
 */
export function MatchesEncodingField(): PropertyDecorator {
  const validate = (value: unknown, o?: { readonly object: object }): boolean => {
    const { encoding } = (o?.object ?? {}) as { readonly encoding?: ContentEncoding };
    return encoding !== 'base64' || typeof value !== 'string' || isBase64(value);
  };
  return ValidateBy({ name: 'isInEncoding', validator: { validate } }, { message: '$property is invalid' });
}

/** Returns the bytes of a content that `MatchesEncodingField` has accepted. */
export function decodeContent(content: string, encoding: ContentEncoding): Buffer {
  return Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
}

/** Base64 may be broken into lines, and the padding may be left out. */
function isBase64(text: string): boolean {
  const plain = /\s/.test(text) ? text.replaceAll(/\s/g, '') : text;
  return BASE64.test(plain) && plain.replace(/=+$/, '').length % 4 !== 1;
}
