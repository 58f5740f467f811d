import { Refused } from '@rookery/kernel';

/** Files that a client is about to upload. The largest size is 0 without any file. Units: bytes. */
export interface AnnouncedFiles {
  readonly names: readonly string[];
  readonly largest: number;
}

/**
 * Reads sizes by the name of the file from a body in JSON. Errors: Refused for another body, or a name that is not
 * `allowed`; those of the body.
 */
export async function readAnnouncedConanFiles(
  body: AsyncIterable<Buffer>,
  allowed: readonly string[],
): Promise<AnnouncedFiles> {
  const sizes = parseFileSizes(await readBodyText(body));
  const names = Object.keys(sizes);
  if (names.some((name) => !allowed.includes(name))) throw conanValidationRefusal('File name is invalid');
  return { names, largest: Math.max(0, ...Object.values(sizes)) };
}

async function readBodyText(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

function parseFileSizes(text: string): Readonly<Record<string, number>> {
  const sizes = parseJsonOrNull(text);
  const isMap = typeof sizes === 'object' && sizes !== null && !Array.isArray(sizes);
  if (!isMap || !Object.values(sizes).every((size) => Number.isSafeInteger(size) && (size as number) >= 0))
    throw conanValidationRefusal('Sizes of files are invalid');
  return sizes as Readonly<Record<string, number>>;
}

function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function conanValidationRefusal(reason: string): Refused {
  return new Refused(`Validation failed: ${reason}`, { verbatim: true });
}
