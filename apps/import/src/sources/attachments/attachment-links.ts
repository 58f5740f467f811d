import { MAX_FOUND_ATTACHMENTS } from '@rookery/contracts';
import type { ImportedAttachment } from '@rookery/contracts';
import MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';

// Only the rules that decide where code is, so that no text makes the parser slow (reference reliability 7.3 row 30).
const parser = new MarkdownIt('zero', { maxNesting: 20 })
  .disable('text_join')
  .enable(['fence', 'code', 'blockquote', 'list', 'heading', 'lheading', 'backticks']);

/** Longest part of a text that is read. Units: UTF-16 code units. */
const READ_LIMIT = 100_000;
/**
 * Longest text that has new addresses, which may have a hundred times the length of the old ones. A request to collaboration
 * takes about three times as many bytes. Units: UTF-16 code units.
 */
const REWRITTEN_LIMIT = 300_000;
/** Part of the text before an address that decides whether the address is in a link. Units: UTF-16 code units. */
const LOOK_BACK = 300;
const ADDRESS = String.raw`[^\s<>()\[\]"'\`|\\]{1,1024}`;
/** The end of a sentence and emphasis are no parts of an address. */
const END = /[.,;:!?*_~]+$/;
/**
 * Path with a segment of dots, or with an escaped separator. Servers and URL parsers resolve those, some of them after they
 * have decoded the path twice or have dropped the parameters of a segment, and then the path is another one.
 */
const LEADS_ELSEWHERE = /\/(?:\.|%(?:25)*2e){1,2}(?:[/;]|$)|%(?:25)*(?:2f|5c)/i;
/** Web pages of the public service, and its other hosts of attachments. */
const PUBLIC_ORIGIN = 'https://github.com';
const PUBLIC_FILES = [
  'https://user-images.githubusercontent.com/',
  'https://private-user-images.githubusercontent.com/',
];

/** An address in a text. `index` is the position of its first character. */
interface LinkPlace {
  readonly address: string;
  readonly index: number;
}
interface TextPiece {
  readonly content: string;
  readonly isCode: boolean;
}

/**
 * Addresses of attachments of one upstream repository in texts. `webOrigin` is the address of the host's web pages,
 * `name` is owner and name of the repository. Source: reference identity-and-import 6.6.
 */
export class AttachmentLinks {
  private readonly address: RegExp;
  private readonly prefix: RegExp;

  constructor(webOrigin: string, name: string) {
    const own = ['user-attachments/assets/', 'user-attachments/files/', `${name}/assets/`, `${name}/files/`];
    const prefixes = [
      // Servers keep files of users below these two paths.
      ...[...own, 'storage/user/', 'assets/'].map((path) => `${webOrigin}/${path}`),
      ...(webOrigin === PUBLIC_ORIGIN ? PUBLIC_FILES : []),
    ];
    const anyPrefix = `(?:${prefixes.map(escapeRegExp).join('|')})`;
    this.address = new RegExp(anyPrefix + ADDRESS, 'gi');
    this.prefix = new RegExp(`^${anyPrefix}`, 'i');
  }

  /** Whether a request for the address asks for an attachment: its path leads nowhere else, also after it is parsed. */
  isAttachment(address: string): boolean {
    const [path] = address.split(/[?#]/, 1);
    return !LEADS_ELSEWHERE.test(path!) && URL.canParse(address) && this.prefix.test(new URL(address).href);
  }

  /** Returns the addresses outside of code, each once. Bounds: MAX_FOUND_ATTACHMENTS. */
  findLinks(text: string): readonly string[] {
    const addresses = new Set(this.findLinkPlaces(text).map(({ address }) => address));
    return [...addresses].filter((address) => this.isAttachment(address)).slice(0, MAX_FOUND_ATTACHMENTS);
  }

  /**
   * Replaces addresses by those of uploads. An address that is no part of a link or an image becomes one. Returns null if the
   * new text is longer than REWRITTEN_LIMIT.
   */
  replaceLinks(text: string, uploads: ReadonlyMap<string, ImportedAttachment>): string | null {
    if (uploads.size === 0) return text;
    if (text.length > REWRITTEN_LIMIT) return null;
    const parts: string[] = [];
    let [at, length] = [0, text.length];
    for (const { address, index } of this.findLinkPlaces(text)) {
      const upload = uploads.get(address);
      if (!upload) continue;
      const isInText = isAddressPlainTextAfter(text.slice(Math.max(0, index - LOOK_BACK), index));
      const replacement = isInText ? upload.markdown : upload.url;
      length += replacement.length - address.length;
      if (length > REWRITTEN_LIMIT) return null;
      parts.push(text.slice(at, index), replacement);
      at = index + address.length;
    }
    return [...parts, text.slice(at)].join('');
  }

  /** Returns the places of addresses outside of code, in their order. Bounds: READ_LIMIT. */
  private findLinkPlaces(text: string): readonly LinkPlace[] {
    // The parser replaces these characters, too.
    const part = text.slice(0, READ_LIMIT).replaceAll('\0', '\uFFFD');
    if (part.search(this.address) < 0) return [];
    // The parser keeps the order of addresses but returns no positions.
    const parsed = parser
      .parse(part, {})
      .flatMap(toMarkdownTextPieces)
      .flatMap(({ content, isCode }) => (content.match(this.address) ?? []).map((found) => ({ found, isCode })));
    const places: LinkPlace[] = [];
    let at = 0;
    for (const { 0: found, index } of part.matchAll(this.address)) {
      const next = parsed[at];
      // The parser omits parts that are nested too deeply.
      if (next?.found !== found) continue;
      at += 1;
      const isCut = part.length < text.length && index + found.length === part.length;
      if (!next.isCode && !isCut) places.push({ address: found.replace(END, ''), index });
    }
    return places;
  }
}

function toMarkdownTextPieces({ type, info, content, children }: Token): readonly TextPiece[] {
  if (children) return children.map((child) => ({ content: child.content, isCode: child.type === 'code_inline' }));
  const isCode = type === 'fence' || type === 'code_block';
  return isCode ? [info, content].map((text) => ({ content: text, isCode })) : [];
}

/** Whether an address that follows is plain text, neither the target of a link nor the value of an attribute. */
function isAddressPlainTextAfter(precedingText: string): boolean {
  if (!/(?:^|\s|[*_~>|])$/.test(precedingText)) return false;
  const line = precedingText.slice(precedingText.lastIndexOf('\n') + 1);
  return !/^ {0,3}\[[^\]]*\]:\s*$/.test(line) && !/\]\(\s*$/.test(line) && !/=\s*$/.test(line);
}

function escapeRegExp(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}
