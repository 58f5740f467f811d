import { MAX_UPLOAD_BYTES } from '@rookery/contracts';
import type { EgressAnswer, EgressStream } from '@rookery/egress';
import { UpstreamError } from '../upstream-error';
import type { UpstreamAccess } from '../upstream-repository';
import { isRateLimitedAnswer, assertUpstreamSuccess, UpstreamRequests } from '../upstream-requests';
import type { AttachmentLinks } from './attachment-links';

const LIMITS = { bodyBytes: MAX_UPLOAD_BYTES, totalMs: 120_000 } as const;
/** Longest answer of a failure that is read. Units: bytes. */
const QUOTED_BYTES = 4096;
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/png', '.png'],
  ['image/jpeg', '.jpg'],
  ['image/gif', '.gif'],
  ['image/webp', '.webp'],
  ['video/mp4', '.mp4'],
  ['video/quicktime', '.mov'],
  ['application/pdf', '.pdf'],
]);

/** A file while it arrives. `content` fails with UpstreamError. The caller must call `close`, also after an error. */
export interface ArrivingAttachment {
  readonly filename: string;
  readonly content: AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** Files that texts of one upstream repository link to. `webOrigin` is the one origin that gets the credential. */
export class UpstreamAttachments {
  constructor(
    readonly links: AttachmentLinks,
    private readonly requests: UpstreamRequests,
    private readonly access: UpstreamAccess,
    private readonly webOrigin: string,
  ) {}

  /** Opens a file, also on another server that the host redirects to. Errors: UpstreamError. */
  async open(url: string, signal: AbortSignal): Promise<ArrivingAttachment> {
    const { credential } = this.access;
    if (!this.links.isAttachment(url)) throw new UpstreamError('address', 'The address is not that of an attachment.');
    const isHost = new URL(url).origin === this.webOrigin;
    const headers: Record<string, string> = isHost ? { authorization: `Bearer ${credential}` } : {};
    const secrets = [credential];
    const answer = await this.requests.open({ url, secrets, headers, limits: LIMITS, canLeaveServer: true, signal });
    try {
      if (answer.status !== 200) this.refuseFailedAnswer({ ...answer, body: await readQuotableBody(answer) });
      if (/^(?:text\/html|application\/xhtml\+xml)\b/i.test(answer.headers['content-type'] ?? ''))
        throw new UpstreamError('other', 'The host sent a web page in place of a file.', { status: 200 });
      const filename = chooseAttachmentFilename(url, answer.headers);
      if (filename.includes(credential)) throw repeatedCredentialError();
      return { filename, content: refuseSecretInBody(answer.body, credential), close: answer.close };
    } catch (error) {
      await answer.close();
      throw error;
    }
  }

  /** Errors: UpstreamError, with a time to wait for only if the host itself limits the requests. */
  private refuseFailedAnswer(answer: EgressAnswer): void {
    const { status } = answer;
    if (isRateLimitedAnswer(answer) && new URL(answer.url).origin !== this.webOrigin)
      throw new UpstreamError('limit', 'Another server limits the rate of requests.', { status });
    assertUpstreamSuccess(answer, [this.access.credential]);
  }
}

/** Returns the body of a failure; an empty one if it has more than QUOTED_BYTES, because longer ones are not quoted. */
async function readQuotableBody({ body }: EgressStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > QUOTED_BYTES) return Buffer.alloc(0);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Yields a body. Errors: UpstreamError if it contains the credential, which members of the project could read there. */
async function* refuseSecretInBody(body: AsyncIterable<Buffer>, secret: string): AsyncGenerator<Buffer> {
  let end = Buffer.alloc(0);
  for await (const chunk of body) {
    const joined = Buffer.concat([end, chunk]);
    if (joined.includes(secret)) throw repeatedCredentialError();
    // Bytes that may begin the secret wait for the next chunk.
    const ready = Math.max(0, joined.length - Buffer.byteLength(secret) + 1);
    end = joined.subarray(ready);
    if (ready > 0) yield joined.subarray(0, ready);
  }
  yield end;
}

function repeatedCredentialError(): UpstreamError {
  return new UpstreamError('other', 'The answer repeats the credential.', { status: 200 });
}

/**
 * Returns the last part of the address if it has an extension, else the name of Content-Disposition, else the last part of
 * the address with the extension of the media type.
 */
function chooseAttachmentFilename(url: string, headers: Readonly<Record<string, string>>): string {
  const named = percentDecode(new URL(url).pathname.split('/').at(-1)!);
  if (/\.\w{1,10}$/.test(named)) return named;
  const [, encoded, quoted, plain] =
    /filename\*=UTF-8''([^;\s]+)|filename="([^"]*)"|filename=([^;\s]+)/i.exec(headers['content-disposition'] ?? '') ??
    [];
  const given = encoded === undefined ? (quoted ?? plain) : percentDecode(encoded);
  if (given) return given.slice(0, 255);
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';', 1);
  return `${named}${EXTENSIONS.get(mediaType.trim().toLowerCase()) ?? ''}`;
}

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
