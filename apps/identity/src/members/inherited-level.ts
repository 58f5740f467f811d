const NAMES: Readonly<Record<number, string>> = {
  5: 'Minimal Access',
  10: 'Guest',
  15: 'Planner',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
};

/** Why a direct level may not lie below the inherited one; null when it does not. Source: reference identity-and-import 2.8. */
export function belowInherited(
  level: number,
  inherited: { readonly access_level: number; readonly name: string },
): string | null {
  if (level >= inherited.access_level) return null;
  const role = NAMES[inherited.access_level] ?? String(inherited.access_level);
  return `should be greater than or equal to ${role} inherited membership from group ${inherited.name}`;
}
