/** An uploaded image file: its name and content. */
export interface Picture {
  readonly filename: string;
  readonly bytes: Buffer;
}

/** Units: bytes. Source: reference identity-and-import 2.6. */
export const MAX_AVATAR_BYTES = 200 * 1024;

const TOO_BIG = 'is too big (should be at most 200 KiB)';
const UNSUPPORTED =
  'file format is not supported. Please try one of the following supported formats: image/png, image/jpeg, ' +
  'image/gif, image/bmp, image/tiff, image/vnd.microsoft.icon';

/** Possible sizes of a bitmap's second header. The first bytes "BM" alone would match many text files. */
const BITMAP_HEADERS: ReadonlySet<number> = new Set([12, 40, 52, 56, 64, 108, 124]);

interface PictureFormat {
  readonly mediaType: string;
  /** The first one is appended to names that have none of them. */
  readonly extensions: readonly string[];
  readonly is: (bytes: Buffer) => boolean;
}

const createBytePrefixMatcher = (...bytes: readonly number[]) => {
  const head = Buffer.from(bytes);
  return (content: Buffer): boolean => content.subarray(0, head.length).equals(head);
};
const readAsciiText = (content: Buffer, from: number, to: number): string => content.toString('latin1', from, to);

/**
 * Image formats that are accepted, recognized by their first bytes. Vector images are not accepted, because they may
 * contain scripts.
 */
const FORMATS: readonly PictureFormat[] = [
  {
    mediaType: 'image/png',
    extensions: ['png'],
    is: createBytePrefixMatcher(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
  },
  { mediaType: 'image/jpeg', extensions: ['jpg', 'jpeg'], is: createBytePrefixMatcher(0xff, 0xd8, 0xff) },
  { mediaType: 'image/gif', extensions: ['gif'], is: (bytes) => /^GIF8[79]a/.test(readAsciiText(bytes, 0, 6)) },
  {
    mediaType: 'image/bmp',
    extensions: ['bmp'],
    is: (bytes) =>
      bytes.length >= 18 && readAsciiText(bytes, 0, 2) === 'BM' && BITMAP_HEADERS.has(bytes.readUInt32LE(14)),
  },
  {
    mediaType: 'image/tiff',
    extensions: ['tiff', 'tif'],
    is: (bytes) =>
      createBytePrefixMatcher(0x49, 0x49, 0x2a, 0x00)(bytes) || createBytePrefixMatcher(0x4d, 0x4d, 0x00, 0x2a)(bytes),
  },
  {
    mediaType: 'image/vnd.microsoft.icon',
    extensions: ['ico'],
    is: (bytes) =>
      createBytePrefixMatcher(0x00, 0x00, 0x01, 0x00)(bytes) && bytes.length >= 6 && bytes.readUInt16LE(4) > 0,
  },
  {
    mediaType: 'image/webp',
    extensions: ['webp'],
    is: (bytes) => readAsciiText(bytes, 0, 4) === 'RIFF' && readAsciiText(bytes, 8, 12) === 'WEBP',
  },
];

function detectFormat(bytes: Buffer): PictureFormat | null {
  return FORMATS.find((format) => format.is(bytes)) ?? null;
}

/**
 * Returns the problems of a picture, as API error messages for the field `avatar`. Source: reference
 * identity-and-import 2.6.
 */
export function avatarPictureProblems(picture: Picture): string[] {
  if (picture.bytes.length > MAX_AVATAR_BYTES) return [TOO_BIG];
  return detectFormat(picture.bytes) === null ? [UNSUPPORTED] : [];
}

/** Errors: a plain Error for a picture with problems. */
export function mediaTypeOf(picture: Picture): string {
  return requireFormat(picture).mediaType;
}

/**
 * Converts the uploaded file name to a single path segment without escapes, with an extension that matches the content.
 * Bounds: 120 characters.
 */
export function toSafeAvatarFilename(picture: Picture): string {
  const { extensions } = requireFormat(picture);
  const base = picture.filename.split(/[\\/]/).at(-1)!;
  const dot = base.lastIndexOf('.');
  const extension = dot < 0 ? '' : base.slice(dot + 1).toLowerCase();
  const isFitting = extensions.includes(extension);
  const stem = (isFitting ? base.slice(0, dot) : base).replace(/[^A-Za-z0-9._+-]+/g, '_').replace(/^[._]+$/, '');
  return `${stem.slice(0, 100) || 'avatar'}.${isFitting ? extension : extensions[0]!}`;
}

function requireFormat(picture: Picture): PictureFormat {
  const format = detectFormat(picture.bytes);
  if (format === null) throw new Error('the picture was not checked before storing it');
  return format;
}
