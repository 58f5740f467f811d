import { Refused } from '@rookery/kernel';

const MAX_ELEMENTS = 50_000;
/** Parsers need about as long for an attribute as for an element. */
const MAX_ATTRIBUTES = 50_000;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Returns the text of an uploaded XML document. A byte order mark decides between UTF-8 and UTF-16. `documentName` is the
 * name of the document in refusals.
 * Errors: Refused for other encodings, for declarations of a document type or entities, and beyond 50,000 elements or
 * as many signs `=`, of which each attribute has one.
 */
export function decodeXml(bytes: Buffer, documentName: string): string {
  const text = decodeXmlBytes(bytes, documentName);
  // A declaration of a type or an entity begins with `<!` and a letter; comments and CDATA sections do not.
  if (/<!(?!--|\[CDATA\[)/.test(text)) throw new Refused(`${documentName} declares a document type`);
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text))
    throw new Refused(`${documentName} has control characters`);
  let elements = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    if (text[at + 1] !== '/' && ++elements > MAX_ELEMENTS) throw new Refused(`${documentName} has too many elements`);
  }
  let attributes = 0;
  for (let at = text.indexOf('='); at >= 0; at = text.indexOf('=', at + 1)) {
    if (++attributes > MAX_ATTRIBUTES) throw new Refused(`${documentName} has too many attributes`);
  }
  return text;
}

/** Replaces the five entities of XML. Other references stay as they are. */
export function unescapeXml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name]!);
}

function decodeXmlBytes(bytes: Buffer, documentName: string): string {
  const encoding = detectEncoding(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new Refused(`${documentName} is neither UTF-8 nor UTF-16`);
  }
}

function detectEncoding([first, second]: Buffer): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
