import { webAddressProblems } from '@rookery/kernel';

/** Placeholders that badges may contain, each with a neutral and an original name. Source: requirements 2 §2 Badge. */
const PLACEHOLDERS = [
  'project_path',
  'project_title',
  'project_name',
  'project_id',
  'project_namespace',
  'group_name',
  'host_server',
  'pages_domain',
  'default_branch',
  'commit_sha',
  'latest_tag',
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** Source: reference identity-and-import 0. */
const ALIASES: Readonly<Record<string, Placeholder>> = {
  gitlab_server: 'host_server',
  gitlab_pages_domain: 'pages_domain',
};
const KNOWN: ReadonlyMap<string, Placeholder> = new Map([
  ...PLACEHOLDERS.map((name) => [name, name] as const),
  ...Object.entries(ALIASES),
]);

/** Matches `%{x}`, with braces or percent sign URL-encoded or not, and `%7Bx%7D`. */
const PLACEHOLDER = /%(?:25)?(?:\{|%7[Bb])([a-z_]+)(?:\}|%7[Dd])|%7[Bb]([a-z_]+)%7[Dd]/g;

export type BadgeFacts = Readonly<Partial<Record<Placeholder, string | null>>>;

/** Returns the placeholders that occur in these texts. */
export function findBadgePlaceholders(texts: readonly string[]): ReadonlySet<Placeholder> {
  const found = new Set<Placeholder>();
  for (const text of texts) {
    for (const [, plain, encoded] of text.matchAll(PLACEHOLDER)) {
      const name = KNOWN.get((plain ?? encoded)!);
      if (name !== undefined) found.add(name);
    }
  }
  return found;
}

/** Replaces placeholders. Unknown ones and those without a value stay. Source: reference identity-and-import 8. */
export function replaceBadgePlaceholders(text: string, facts: BadgeFacts): string {
  return text.replace(PLACEHOLDER, (whole: string, plain?: string, encoded?: string) => {
    const name = KNOWN.get((plain ?? encoded)!);
    return (name === undefined ? null : facts[name]) ?? whole;
  });
}

/** Units: characters. Source: reference identity-and-import 8. */
const LONGEST_URL = 2048;

/**
 * Returns the problems of a URL as it was sent, with placeholders, which may stand for a host or a part of it. Hosts
 * are not checked, because only browsers request them. Source: reference identity-and-import 8.
 */
export function badgeUrlProblems(text: string): string[] {
  // A letter is valid in every place of a URL where a placeholder may be, except in the port.
  const sample = text
    .replace(/:%\{[^{}]*\}/g, ':1')
    .replace(/%\{[^{}]*\}/g, 'x')
    .replace(PLACEHOLDER, 'x');
  return webAddressProblems(text, LONGEST_URL, sample);
}
