/**
 * What is left of a text as the beginning of a path: what stands before `@`, without an ending that paths may not
 * have, and without what they may not hold. Source: reference identity-and-import 3.
 */
export function cleanPath(text: string): string {
  const cleaned = text
    .replace(/@.*$/s, '')
    .replace(/(\.git|\.atom)$/i, '')
    .replace(/^-+/, '')
    .replace(/\.+$/, '')
    .replace(/[^A-Za-z0-9_.-]/g, '');
  return cleaned === '' ? 'blank' : cleaned;
}
