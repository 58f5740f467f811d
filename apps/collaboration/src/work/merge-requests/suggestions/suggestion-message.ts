/** Values of the placeholders in the message of a commit that applies suggestions. */
export interface MessageFacts {
  readonly branchName: string;
  readonly paths: readonly string[];
  readonly projectName: string;
  readonly projectPath: string;
  readonly suggestionsCount: number;
  readonly user: { readonly name: string; readonly username: string };
  /** Authors of the suggestions other than the user. */
  readonly coAuthors: readonly { readonly name: string; readonly email: string }[];
}

const DEFAULT_TEMPLATE = 'Apply %{suggestions_count} suggestion(s) to %{files_count} file(s)\n\n%{co_authored_by}';

/**
 * Returns the message of a commit that applies suggestions, from the first template that is not blank. Unknown
 * placeholders stay. Blank lines at the end are removed. Source: reference repositories 8.13.
 */
export function renderSuggestionCommitMessage(
  templates: readonly (string | null | undefined)[],
  facts: MessageFacts,
): string {
  const template = templates.find((one) => (one ?? '').trim() !== '') ?? DEFAULT_TEMPLATE;
  const values = new Map<string, string>([
    ['branch_name', facts.branchName],
    ['files_count', String(facts.paths.length)],
    ['file_paths', [...facts.paths].sort().join(', ')],
    ['project_name', facts.projectName],
    ['project_path', facts.projectPath],
    ['suggestions_count', String(facts.suggestionsCount)],
    ['username', facts.user.username],
    ['user_full_name', facts.user.name],
    ['co_authored_by', facts.coAuthors.map(({ name, email }) => `Co-authored-by: ${name} <${email}>`).join('\n')],
  ]);
  return template.replaceAll(/%\{(\w+)\}/g, (text, name: string) => values.get(name) ?? text).trimEnd();
}
