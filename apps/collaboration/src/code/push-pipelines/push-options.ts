import type { PushedVariable } from '@rookery/contracts';

/** Arguments of the pipelines of a push. */
interface PipelineOptions {
  readonly isSkipped: boolean;
  readonly variables: readonly PushedVariable[];
  readonly inputs: Readonly<Record<string, string>>;
}

/** Key and value of `ci.variable=KEY=VALUE` and `ci.input=NAME=VALUE`. */
const PAIR = /^([A-Za-z0-9_]{1,255})=([\s\S]*)$/;
const MAX_INPUTS = 20;

/** Reads push options about pipelines. Malformed ones have no effect; the last value of a key counts. */
export function parsePipelinePushOptions(options: readonly string[]): PipelineOptions {
  const pairs = (name: string): ReadonlyMap<string, string> =>
    new Map(options.flatMap((option) => parseKeyValuePushOption(option, `ci.${name}=`)));
  return {
    isSkipped: options.some((option) => option === 'ci.skip' || option.startsWith('ci.skip=')),
    variables: [...pairs('variable')].map(([key, value]) => ({ key, value })),
    inputs: Object.fromEntries([...pairs('input')].slice(0, MAX_INPUTS)),
  };
}

/**
 * Parses the key and value of an option. Returns a list of one pair, or an empty list if the option has no valid pair.
 */
function parseKeyValuePushOption(option: string, prefix: string): readonly (readonly [string, string])[] {
  if (!option.startsWith(prefix)) return [];
  const [, key, value] = PAIR.exec(option.slice(prefix.length)) ?? [];
  return key === undefined ? [] : [[key, value!]];
}
