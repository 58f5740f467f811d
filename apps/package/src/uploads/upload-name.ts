/** Longest name of a stored file. Units: characters. */
const LONGEST = 200;
const UNUSUAL = /[^\p{L}\p{N}._+-]+/gu;

/**
 * Returns the name under which a file is stored: one path segment of letters, digits, dots, dashes, plus signs and
 * underscores. A long name loses its beginning, because the end has the extension.
 */
export function sanitizeUploadName(filename: string): string {
  const base = filename.split(/[\\/]/).at(-1)!;
  const name = [...base.replace(UNUSUAL, '_')].slice(-LONGEST).join('');
  return /^[._]*$/.test(name) ? 'file' : name;
}

/** Media types of pictures that browsers may show, by their first bytes. Vector images are missing: they may run scripts. */
const PICTURES: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
];

/** Number of first bytes that show the type of a picture. */
export const HEAD_BYTES = 12;
export const PICTURE_TYPES = PICTURES.map(([type]) => type);

/** Returns the media type of a picture, null for other files. */
export function detectPictureType(head: Buffer): string | null {
  const text = head.toString('latin1');
  return PICTURES.find(([, begins]) => begins.test(text))?.[0] ?? null;
}
