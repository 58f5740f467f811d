import { webAddressProblems } from '@rookery/kernel';

/** Names that badges may hold, each once for its neutral and its original word. Source: requirements 2 §2 Badge. */
export const PLACEHOLDERS = [
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

/** `%{x}`, with braces or percent sign encoded or not, and `%7Bx%7D`. */
const PLACEHOLDER = /%(?:25)?(?:\{|%7[Bb])([a-z_]+)(?:\}|%7[Dd])|%7[Bb]([a-z_]+)%7[Dd]/g;

export type BadgeFacts = Readonly<Partial<Record<Placeholder, string | null>>>;

/** The placeholders that occur in these texts. */
export function placeholdersIn(texts: readonly string[]): ReadonlySet<Placeholder> {
  const found = new Set<Placeholder>();
  for (const text of texts) {
    for (const [, plain, encoded] of text.matchAll(PLACEHOLDER)) {
      const name = KNOWN.get((plain ?? encoded)!);
      if (name !== undefined) found.add(name);
    }
  }
  return found;
}

/**
 * The text with its placeholders replaced; one that is unknown or has no value stays.
 * Source: reference identity-and-import 8.
 */
export function resolved(text: string, facts: BadgeFacts): string {
  return text.replace(PLACEHOLDER, (whole: string, plain?: string, encoded?: string) => {
    const name = KNOWN.get((plain ?? encoded)!);
    return (name === undefined ? null : facts[name]) ?? whole;
  });
}

/** Units: characters. Source: reference identity-and-import 8. */
const LONGEST_URL = 2048;

/**
 * What is wrong with a URL as it was sent, placeholders included: they may stand for a host or its part. Hosts are not
 * judged, since only browsers go there. Source: reference identity-and-import 8.
 */
export function problemsOfUrl(text: string): string[] {
  // A letter does for a host and everything else that a placeholder may stand for, but for a port.
  const sample = text
    .replace(/:%\{[^{}]*\}/g, ':1')
    .replace(/%\{[^{}]*\}/g, 'x')
    .replace(PLACEHOLDER, 'x');
  return webAddressProblems(text, LONGEST_URL, sample);
}
