/** Text of a value in a hash of exclusions. Returns undefined for objects and lists. */
export function scalarToText(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Texts of a list, or of a text with commas. Blank items are left out. */
export function splitList(value: unknown): string[] {
  const items = Array.isArray(value) ? (value as unknown[]) : (scalarToText(value)?.split(',') ?? []);
  return items.flatMap((item) => scalarToText(item)?.trim() ?? []).filter((item) => item !== '');
}
