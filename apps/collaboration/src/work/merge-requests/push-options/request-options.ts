/** Push options about merge requests. An option that was not sent is undefined, false or an empty list. */
export interface MergeRequestPushOptions {
  readonly creates: boolean;
  readonly target: string | undefined;
  /** Full path or id of the project of the target branch. */
  readonly targetProject: string | undefined;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly isDraft: boolean;
  /** Title of a milestone. */
  readonly milestone: string | undefined;
  readonly removesSource: boolean | undefined;
  readonly squash: boolean | undefined;
  readonly mergesAutomatically: boolean;
  readonly labels: readonly string[];
  readonly unlabels: readonly string[];
  /** Ids or usernames of users to assign. */
  readonly assignees: readonly string[];
  readonly unassignees: readonly string[];
}

const PREFIX = 'merge_request.';

/** Reads push options about merge requests. Unknown ones are ignored; the last value of a key counts. */
export function parseMergeRequestPushOptions(options: readonly string[]): MergeRequestPushOptions {
  const values = new Map<string, string[]>();
  for (const option of options.filter((one) => one.startsWith(PREFIX))) {
    const [key, ...value] = option.slice(PREFIX.length).split('=');
    values.set(key!, [...(values.get(key!) ?? []), value.length === 0 ? 'true' : value.join('=')]);
  }
  const all = (key: string): readonly string[] => (values.get(key) ?? []).filter((value) => value.trim() !== '');
  const last = (key: string): string | undefined => all(key).at(-1);
  const flag = (key: string): boolean | undefined => {
    const value = last(key);
    return value === undefined ? undefined : value !== 'false' && value !== '0';
  };
  return {
    creates: flag('create') ?? false,
    target: last('target'),
    targetProject: last('target_project'),
    title: last('title'),
    description: last('description')?.replaceAll(String.raw`\n`, '\n'),
    isDraft: flag('draft') ?? false,
    milestone: last('milestone'),
    removesSource: flag('remove_source_branch'),
    squash: flag('squash'),
    mergesAutomatically: flag('merge_when_pipeline_succeeds') ?? flag('auto_merge') ?? false,
    labels: all('label'),
    unlabels: all('unlabel'),
    assignees: all('assign'),
    unassignees: all('unassign'),
  };
}

/** Makes a title from the name of a branch or field: `add-a_page` is "Add a page". */
export function humanizeName(name: string): string {
  const words = name.replaceAll(/[-_]+/g, ' ').trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
