/** A suggestion without a range, which replaces all lines of the comment. */
const SUGGESTION = /^([ \t]*(?:`{3,}|~{3,})[ \t]*suggestion)[ \t]*$/gm;

/** Suggestions of upstream hosts replace all lines of a comment; here they name the number of lines above. */
export function withSuggestionRange(
  body: string,
  { line, startLine }: { readonly line: number | null; readonly startLine: number | null },
): string {
  const above = line === null || startLine === null ? 0 : line - startLine;
  return body.replace(SUGGESTION, `$1:-${above}+0`);
}
